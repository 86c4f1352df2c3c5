"""The command line. Heavy imports happen in the commands, so that `--help` is quick."""


def main() -> None:
    """Entry point of `envs-forge`."""
    from envs_forge.cli.app import run

    run()
