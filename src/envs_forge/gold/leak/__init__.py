"""Does the built image hold the solution, the tests or the answer? Found by content, in whatever wrapping."""
