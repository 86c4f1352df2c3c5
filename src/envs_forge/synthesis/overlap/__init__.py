"""How much texts of tasks have in common: near copies, evaluation sets, canaries."""
