"""procedural."""
