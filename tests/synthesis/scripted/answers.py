"""Kinds of answers: sound ones in every form, bundles that are bad in one way, and answers that are none.

Each kind says what must become of it: a set of `stage/code`, empty where the candidate is sound.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from envs_forge.bundle.model import Bundle
from envs_forge.plan.model import Projection
from envs_forge.synthesis.generator import Assignment, Candidate
from envs_forge.synthesis.llm.envelope import write_envelope
from envs_forge.synthesis.procedural.generator import ProceduralGenerator
from models.server import Reply, drops, fails, says

from . import faults
from .prompt import Asked

OPPOSITE = {Projection.INCREASE: Projection.REDUCE, Projection.REDUCE: Projection.INCREASE}
KEY = "sk-scripted-0123456789abcdef"
"""The key that clients are given; some answers say it back."""


@dataclass(frozen=True)
class Kind:
    """One way to answer.

    Attributes:
        name: For tests and tables.
        make: The answer's text; None where this seed or action does not allow it.
        outcomes: What may become of it, as `stage/code`; empty: it is sound.
        finish: Why the model stopped.
        before: What happens to the first request for this answer, in its place.
        reasoning: Hidden thoughts.
        repairable: Whether a repair follows.
    """

    name: str
    make: Callable[[Asked], str | None]
    outcomes: frozenset[str] = frozenset()
    finish: str = "stop"
    before: Callable[[], Reply] | None = None
    reasoning: str = ""
    repairable: bool = True


def child(asked: Asked, *, opposite: bool = False) -> Bundle | None:
    """The procedural generator's child of an assignment; of the opposite one for a wrong projection."""
    wanted: Assignment = asked.assignment
    if opposite:
        projection = OPPOSITE.get(wanted.action.projection)
        if projection is None:
            return None
        action = wanted.action.model_copy(update={"projection": projection})
        wanted = wanted.model_copy(update={"action": action, "required": (), "optional": ()})
    made = ProceduralGenerator(seed=1).generate(wanted, asked.parent)
    return made.bundle if isinstance(made, Candidate) else None


def written(bundle: Bundle) -> str:
    """An answer without `task.toml`, as a model that follows the contract would write it."""
    files = {path: file for path, file in bundle.files.items() if path != "task.toml"}
    return write_envelope(bundle.model_copy(update={"files": files}), meta={"change": "scripted"})


def _sound(shape: Callable[[str], str] = lambda text: text) -> Callable[[Asked], str | None]:
    def make(asked: Asked) -> str | None:
        made = child(asked)
        return shape(written(made)) if made is not None else None

    return make


def _spoilt(fault: faults.Fault) -> Callable[[Asked], str | None]:
    def make(asked: Asked) -> str | None:
        made = child(asked)
        bad = fault(asked.parent, made) if made is not None else None
        return written(bad) if bad is not None else None

    return make


def _wrong_projection(asked: Asked) -> str | None:
    made = child(asked, opposite=True)
    return written(made) if made is not None else None


def _asks_for_network(asked: Asked) -> str | None:
    made = child(asked)
    if made is None:
        return None
    return written(made) + '@@ FILE task.toml\n[environment]\nnetwork_mode = "public"\n@@ END\n'


def _as_json(asked: Asked) -> str | None:
    made = child(asked)
    if made is None or any(file.target is not None for file in made.files.values()):
        return None
    texts = {path: file.data.decode("utf-8", "replace") for path, file in made.files.items() if path != "task.toml"}
    modes = [{"path": path, "content": text, "mode": f"{made.files[path].mode:o}"} for path, text in texts.items()]
    return "```json\n" + json.dumps({"files": modes}) + "\n```\n"


def _without(mark: str) -> Callable[[str], str]:
    """Without the block of one file."""
    return lambda text: "".join(part for part in _blocks(text) if not part.startswith(f"@@ FILE {mark}"))


def _blocks(text: str) -> list[str]:
    return ["@@ FILE " + part if n else part for n, part in enumerate(text.split("@@ FILE "))]


def _crlf_script(text: str) -> str:
    return "".join(
        p.replace("\n", "\r\n").replace("@@ END\r", "@@ END") if "solve.sh" in p[:40] else p for p in _blocks(text)
    )


SOUND = (
    Kind("plain", _sound()),
    Kind("prose", _sound(lambda text: f"Sure! Here is the environment.\n\n{text}\nLet me know if it helps.\n")),
    Kind("json", _as_json),
    Kind("crlf", _sound(lambda text: text.replace("\n", "\r\n"))),
    Kind("thinking", _sound(lambda text: f"<think>What about @@ FILE x?</think>\n{text}")),
    Kind("rate-limit", _sound(), before=lambda: fails(429)),
    Kind("retry-after", _sound(), before=lambda: fails(429, retry_after="0")),
    Kind("server-error", _sound(), before=lambda: fails(500, f"internal: key {KEY}")),
    Kind("dropped", _sound(), before=drops),
    Kind("dropped-midway", _sound(), before=lambda: replace(says("half of an answer"), drop=True)),
    Kind("no-json", _sound(), before=lambda: Reply(body=b"<html>bad gateway</html>")),
)


def _kind(name: str, make: Callable[[Asked], str | None], *outcomes: str, **more: Any) -> Kind:
    return Kind(name, make, frozenset(outcomes), **more)


def _says(text: str) -> Callable[[Asked], str | None]:
    return lambda asked: text


def _with(block: str) -> Callable[[Asked], str | None]:
    return _sound(lambda text: text + block)


def _tells_the_key(text: str) -> str:
    return f"Authorised with {KEY}.\n{text}"


BIG = f"@@ FILE environment/data/big.txt\n{'0123456789' * 110_000}\n@@ END\n"
BAD = (
    _kind("instruction-only", _spoilt(faults.instruction_only), "audit/part-unchanged", "audit/near-copy-parent"),
    _kind("near-copy", _spoilt(faults.near_copy), "audit/near-copy-parent", "audit/names-only"),
    _kind("renamed", _spoilt(faults.renamed), "audit/names-only", "audit/near-copy-parent"),
    _kind("oracle-told", _spoilt(faults.oracle_told), "audit/answer-in-instruction"),
    _kind("answer-told", _spoilt(faults.answer_told), "audit/answer-in-instruction"),
    _kind("path-unsaid", _spoilt(faults.path_unsaid), "audit/unstated-path"),
    _kind("value-mismatch", _spoilt(faults.value_mismatch), "audit/parameter-mismatch"),
    # An increase where a reduction was asked for has all of the seed in it, so it may count as the seed renamed first.
    _kind("wrong-projection", _wrong_projection, "audit/wrong-direction", "audit/skill-lost", "audit/names-only"),
    _kind("oracle-fails", _spoilt(faults.oracle_fails), "oracle/oracle-fails"),
    _kind("untouched-passes", _spoilt(faults.untouched_passes), "untouched/untouched-scores"),
    _kind("tests-disagree", _spoilt(faults.tests_disagree), "oracle/oracle-fails"),
)
BROKEN = (
    _kind("empty", _says(""), "synthesis/answer-empty", repairable=False),
    _kind("thoughts-only", _says(""), "synthesis/answer-cut", finish="length", reasoning="hm " * 50),
    _kind("cut", _sound(lambda text: text[: len(text) // 2]), "synthesis/answer-cut", finish="length"),
    _kind("refusal", _says("I'm sorry, but I can't do that."), "synthesis/answer-refused", repairable=False),
    _kind("talk", _says("What a nice seed."), "synthesis/answer-no-files"),
    _kind("two-versions", _with("@@ FILE solution/solve.sh\ntrue\n@@ END\n"), "synthesis/answer-duplicate-file"),
    _kind("escape", _with("@@ FILE environment/../../../etc/x\nx\n@@ END\n"), "synthesis/answer-path-escapes"),
    _kind("absolute", _with("@@ FILE /etc/passwd\nx\n@@ END\n"), "synthesis/answer-path-escapes"),
    _kind("no-tests", _sound(_without("tests/test.sh")), "synthesis/answer-part-missing"),
    _kind("crlf-script", _sound(_crlf_script), "synthesis/answer-crlf"),
    _kind("damaged", _sound(lambda text: text.replace("# ", "# \ufffd", 1)), "synthesis/answer-encoding"),
    _kind("too-large", _with(BIG), "synthesis/answer-too-large"),
    _kind("kept-unknown", _with("@@ KEEP tests/none.py\n"), "synthesis/answer-keep-unknown"),
    _kind("key-told", _sound(_tells_the_key), "synthesis/answer-secret", repairable=False),
    _kind("network", _asks_for_network, "synthesis/answer-config"),
    _kind("bad-json", _says('{"files": {"instruction.md": "x",}}'), "synthesis/answer-bad-json"),
)
