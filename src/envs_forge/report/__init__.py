"""What came of runs, as a page for people: one HTML file that needs nothing else."""
