"""Put the checking program together from the readers that a bundle needs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

TEST_SH = """\
#!/bin/sh
# Runs the checks. A reward is written whatever happens: 1 when all pass, else 0.
mkdir -p /logs/verifier
echo 0 > /logs/verifier/reward.txt
reward=0
trap 'echo "$reward" > /logs/verifier/reward.txt' EXIT
python3 -I -S /tests/check.py && reward=1
exit 0
"""


def check_program(readers: Iterable[str]) -> str:
    """Text of `tests/check.py` with the named readers in it."""
    parts = "\n\n".join(_text(f"readers/{name}.py.in").strip() + "\n" for name in sorted(set(readers)))
    return _text("program.py.in").replace("# READERS\n", f"\n{parts}" if parts else "")


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
