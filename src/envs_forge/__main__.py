"""`python -m envs_forge`: the same as the program `envs-forge`."""

from envs_forge.cli import main

if __name__ == "__main__":
    main()
