"""How the failing rollouts of one bundle failed, short enough for a prompt. See README.md."""
