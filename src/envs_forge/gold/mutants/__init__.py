"""Solutions with one meaningful piece removed or altered: what still gets the full reward, the tests do not check."""
