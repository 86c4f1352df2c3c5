"""The policies that come with Envs-FORGE. `make.py` turns what a user types into one of them."""
