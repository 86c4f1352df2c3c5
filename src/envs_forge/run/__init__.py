"""One run: its directory, its lock, the stages of the loop and the figures it leaves."""
