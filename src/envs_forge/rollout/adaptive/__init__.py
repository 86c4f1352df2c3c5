"""Which rollouts a plan still needs. See README.md."""
