"""What oracles change is remembered, within bounds."""

from envs_forge.sandbox import oracles
from envs_forge.sandbox.oracles import OracleMemory
from gold.tasks import task


def asked(memory: OracleMemory, number: int, paths: int = 1) -> bool:
    """Whether the oracle had to run."""
    ran = []

    def run() -> frozenset[str]:
        ran.append(number)
        return frozenset(f"/{number}/{path}" for path in range(paths))

    bundle = task(instruction=f"Do {number}.\n")
    assert f"/{number}/0" in memory.changes(bundle, "sha256:0", run)
    return bool(ran)


def test_an_oracle_runs_once():
    memory = OracleMemory()
    assert [asked(memory, number) for number in (1, 2, 1, 2)] == [True, True, False, False]


def test_what_was_asked_for_longest_ago_is_forgotten(monkeypatch):
    monkeypatch.setattr(oracles, "REMEMBERED", 2)
    memory = OracleMemory()
    assert [asked(memory, number) for number in (1, 2, 1, 3, 1, 2)] == [True, True, False, True, False, True]


def test_many_paths_are_not_kept_for_all(monkeypatch):
    monkeypatch.setattr(oracles, "MOST_PATHS", 100)
    memory = OracleMemory()
    assert [asked(memory, number, paths=80) for number in (1, 2, 3, 2, 3)] == [True, True, True, False, True]
