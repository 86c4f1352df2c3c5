"""How long prompts are: every task × every action, counted by a public tokenizer.

    python benchmarks/prompts.py --tokenizer qwen.tiktoken --json

The file is Qwen's own, as the package `dashscope` ships it (`dashscope/resources/qwen.tiktoken`, sha256
b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186); counting with it needs the package `tiktoken`.
Without `--tokenizer` tokens are estimated as the program does before a call.
"""

from __future__ import annotations

import argparse
import base64
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.reading import read_bundle
from envs_forge.plan.model import ACTIONS
from envs_forge.plan.skills import candidate_skills, load_graph
from envs_forge.synthesis.generator import Assignment
from envs_forge.synthesis.llm.contract import DIGEST_CHARS, PROMPTS, SEED_TOKENS, contract
from envs_forge.synthesis.llm.tokens import estimate_tokens
from envs_forge.synthesis.tagging import skills_of_bundle

ROOT = Path(__file__).parents[1]
PUBLISHED = {"few-shot": 10796, "self-instruct": 11947, "evol-instruct": 12163, "forge": 9901}
"""Tokens an attempt, prompt and answer together, from the publication's totals (FORGE: from its printed total)."""
_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DIGEST = "3 x \"2. top rows\": \"entry 2: expected 'b00018 | tools | 12', found 'b00038 | mobile | 9'\"\n" * 9
"""As long as a real digest of several ways of failing."""

Row = dict[str, Any]


def counter(file: Path | None) -> Callable[[str], int]:
    """What counts tokens."""
    if file is None:
        return estimate_tokens
    try:
        import tiktoken
    except ImportError:
        sys.exit("counting with a tokenizer needs tiktoken: pip install tiktoken")
    lines = (line.split() for line in file.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    encoding = tiktoken.Encoding("qwen", pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def rows(paths: list[str], count: Callable[[str], int], digest: str) -> list[Row]:
    """One row a task and action."""
    found = []
    for path in find_bundles(paths):
        bundle = read_bundle(path)
        own = skills_of_bundle(bundle).skills
        options = candidate_skills(load_graph(), own)
        for action in ACTIONS:
            option = options[str(action)]
            figures = {"pass_rate": 0.5, "k": 2, "n": 4, "predicted": 0.5, "frontier_score": 1.0}
            told = {"slot": 0, "draw": 0, "seed_id": bundle.id, "seed_hash": "", "recipe": "forge", "digest": digest}
            skills = {"required": option.required, "optional": option.optional[:1]}
            asked = contract(Assignment(action=action, **told, **figures, **skills), bundle, own=own, option=option)
            system, user = (str(message["content"]) for message in asked.messages)
            seed, _, order = user.partition("# The assignment")
            parts = {"shared": count(system), "seed": count(seed), "assignment": count(order)}
            whole = sum(parts.values())
            share = (parts["shared"] + parts["seed"]) / whole
            found.append(
                {"task": bundle.id, "action": str(action), "tokens": whole, **parts, "share": share,
                 "estimate": asked.tokens / whole, "cut": len(asked.cut)}
            )  # fmt: skip
    return found


def main(arguments: list[str]) -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(prog="prompts", description=__doc__)
    parser.add_argument("paths", nargs="*", default=[str(ROOT / "seeds"), str(ROOT / "examples" / "tasks")])
    parser.add_argument("--tokenizer", type=Path, metavar="FILE", help="Qwen's qwen.tiktoken; default: the estimate")
    parser.add_argument("--each", action="store_true", help="all rows, not only their summary")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    asked = parser.parse_args(arguments)
    found = rows(asked.paths, counter(asked.tokenizer), DIGEST[:DIGEST_CHARS])
    tokens = sorted(row["tokens"] for row in found)
    summary: Row = {
        "prompts": len(found),
        "tasks": len({row["task"] for row in found}),
        "counted_by": "estimate" if asked.tokenizer is None else asked.tokenizer.name,
        "version": PROMPTS.identity,
        "seed_budget": SEED_TOKENS,
        "median": statistics.median(tokens),
        "p90": tokens[int(0.9 * (len(tokens) - 1))],
        "max": tokens[-1],
        "shared": found[0]["shared"],
        "median_seed": statistics.median(row["seed"] for row in found),
        "median_assignment": statistics.median(row["assignment"] for row in found),
        "median_share_of_shared_and_seed": round(statistics.median(row["share"] for row in found), 3),
        "least_share_of_shared_and_seed": round(min(row["share"] for row in found), 3),
        "estimate_over_count": round(statistics.median(row["estimate"] for row in found), 3),
        "published_tokens_per_attempt": PUBLISHED,
    }
    each = found if asked.each else []
    if asked.json:
        print(json.dumps({**summary, **({"rows": each} if each else {})}, indent=2))
        return 0
    for name, value in summary.items():
        print(f"{name:34} {value}")
    for row in each:
        print(f"{row['task']:40} {row['action']:20} {row['tokens']:6}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
