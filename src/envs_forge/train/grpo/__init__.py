"""GRPO for language models with TRL: episodes of the terminal agent in sandboxes, rewards from the tests alone."""
