"""Terminal-Bench 1 task directories, read as Harbor ones.

Their layout: `task.yaml` (instruction, time-outs, parser), `Dockerfile`, `docker-compose.yaml`, `solution.sh` or
`solution.yaml`, `run-tests.sh`, `tests/`, and whatever the image needs.
"""

from envs_forge.bundle.formats.terminal_bench.layout import is_terminal_bench, to_harbor

__all__ = ["is_terminal_bench", "to_harbor"]
