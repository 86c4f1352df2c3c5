"""The study in miniature: recipes against each other, over many readers, at equal cost."""
