"""The `envs-forge` program with fakes for its parts, for tests in processes of their own.

    python fake_program.py PAUSE ARGUMENTS…

PAUSE is how many seconds every piece of work takes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from envs_forge.cli import conduct
from envs_forge.cli.app import main
from pipeline.fakes import World

if __name__ == "__main__":
    pause = float(sys.argv[1])
    world = World(after=lambda kind: time.sleep(pause))
    conduct.open_parts = lambda config: world.parts(rollouts=config.rollouts)
    sys.exit(main(sys.argv[2:]))
