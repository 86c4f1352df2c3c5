"""A scripted model endpoint and the faults that it plants."""
