"""The terminal agent: a language model with a shell, over any OpenAI-compatible endpoint. See README.md."""
