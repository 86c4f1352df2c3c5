"""Edits of a chain of operations: the elementary moves, and one module a projection."""
