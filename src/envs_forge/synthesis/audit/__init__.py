"""Whether a candidate did what its action asked for, judged without a container."""
