"""Accepted bundles as what trainers read: a folder of Harbor task directories and an index."""
