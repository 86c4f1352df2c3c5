"""`envs-forge doctor`: what this machine has and what it lacks, with the fix."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json

if TYPE_CHECKING:
    from envs_forge.sandbox.prerequisites import Check

MISSING = 2


@click.command()
@options.as_json()
def doctor(json_: bool) -> int:
    """Show each prerequisite with a tick or the exact fix.

    Works before anything is installed but the Python packages. Exits 0 when tasks can be run here, else 2.
    """
    from envs_forge.sandbox.prerequisites import check_all, oci_ready, ready

    checks = check_all()
    if json_:
        show_json(_report(checks))
    else:
        for check in checks:
            _show(check)
        say(_summary(ready(checks), oci_ready(checks)))
    return 0 if ready(checks) else MISSING


def _report(checks: list[Check]) -> dict[str, object]:
    from dataclasses import asdict

    from envs_forge.sandbox.prerequisites import oci_ready, ready

    engine = "oci" if oci_ready(checks) else "docker" if ready(checks) else None
    return {"ok": ready(checks), "engine": engine, "checks": [asdict(check) for check in checks]}


def _show(check: Check) -> None:
    if check.ok:
        mark, colour = _sign("✓", "ok"), "green"
    elif check.group == "needed":
        mark, colour = _sign("✗", "NO"), "red"
    else:
        mark, colour = _sign("–", "--"), "yellow"
    say(f"{click.style(mark, fg=colour)} {check.name:<14} {check.detail}")
    if check.fix:
        say(f"{' ' * len(mark)} {'':<14} fix: {check.fix}")


def _sign(sign: str, plain: str) -> str:
    """`sign`, or `plain` where the output's encoding has no such sign."""
    try:
        sign.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return plain
    return sign


def _summary(ready: bool, oci: bool) -> str:
    if not ready:
        return "Not ready: mend what is marked above, top to bottom."
    return "Ready, with the oci engine." if oci else "Ready, with the docker engine."
