"""The builtin policy: a small trainable reader of instructions. It is not a language model."""
