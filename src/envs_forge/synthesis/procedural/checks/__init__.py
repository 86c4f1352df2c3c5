"""Checks as data, and the program that runs them inside the verifier's container."""
