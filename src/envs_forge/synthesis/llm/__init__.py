"""Synthesis by language models: the contract as a prompt, hostile answers, repair."""
