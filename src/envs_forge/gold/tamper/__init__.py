"""What an agent might do instead of the work. None of it may pay."""
