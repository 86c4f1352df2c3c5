"""The scripted model: reads from the prompt what is asked, answers well, subtly badly or not at all, in a seeded mix.

    model = ScriptedModel(seeds, mix=Mix(good=0.5, bad=0.3))
    with ModelServer(model) as server: …

What it answers follows from the request alone, never from the order of requests: a run that was killed and went on gets
what an uninterrupted one gets. Every answer has a number of prompt tokens of its own, by which tests find it again.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envs_forge.bundle.model import Bundle
from envs_forge.synthesis.llm.tokens import estimate_tokens
from models.server import Reply, says

from .answers import BAD, BROKEN, SOUND, Kind
from .prompt import Asked, read_prompt

GIVEN_UP = Kind(
    "no-child", lambda asked: "I have no idea.", frozenset({"synthesis/answer-no-files", "synthesis/unrepaired"})
)
"""Where the procedural generator has no child that keeps the skills. Said again after a repair, it is `unrepaired`."""


@dataclass(frozen=True)
class Mix:
    """Shares of the groups; the rest is broken. `mends` is the share of repairs that are sound."""

    good: float = 0.5
    bad: float = 0.3
    mends: float = 0.7
    seed: int = 1
    only: tuple[str, ...] = ()
    """Names of the bad and broken kinds to choose from; empty: all."""


@dataclass
class Given:
    """One answer that was given."""

    kind: Kind
    asked: Asked
    text: str
    prompt_tokens: int
    completion_tokens: int
    sent: int = 0


@dataclass
class ScriptedModel:
    """A script for `ModelServer`. `given` maps the numbers of prompt tokens to what was answered."""

    seeds: Sequence[Bundle]
    mix: Mix = field(default_factory=Mix)
    delay_s: float = 0.0
    given: dict[int, Given] = field(default_factory=dict)
    _by_request: dict[int, Given] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: Mapping[str, Any], number: int) -> Reply:
        with self._lock:
            found = self._by_request.get(body["seed"])
            if found is None:
                found = self._answer(body)
                self._by_request[body["seed"]] = self.given[found.prompt_tokens] = found
            found.sent += 1
            first = found.sent == 1
        if first and found.kind.before is not None:
            return found.kind.before()
        return self._reply(found)

    def _answer(self, body: Mapping[str, Any]) -> Given:
        asked = read_prompt(body, self.seeds)
        kind, text = self._choose(asked)
        prompt = sum(estimate_tokens(message["content"]) for message in body["messages"])
        while prompt in self.given:
            prompt += 1
        return Given(kind, asked, text, prompt, estimate_tokens(text + kind.reasoning) + 1)

    def _choose(self, asked: Asked) -> tuple[Kind, str]:
        dice = random.Random(f"{self.mix.seed}/{asked.number}")
        draw = dice.random()
        if asked.repair:
            group = SOUND if draw < self.mix.mends else self._some((*BAD, *BROKEN))
        elif draw < self.mix.good:
            group = SOUND
        else:
            group = self._some(BAD if draw < self.mix.good + self.mix.bad else BROKEN)
        for kind in (*dice.sample(group, len(group)), *SOUND):
            text = kind.make(asked)
            if text is not None:
                return kind, text
        return GIVEN_UP, GIVEN_UP.make(asked) or ""

    def _some(self, kinds: Sequence[Kind]) -> tuple[Kind, ...]:
        return tuple(kind for kind in kinds if not self.mix.only or kind.name in self.mix.only)

    def _reply(self, found: Given) -> Reply:
        usage = {"prompt_tokens": found.prompt_tokens, "completion_tokens": found.completion_tokens}
        usage["total_tokens"] = sum(usage.values())
        message = {"reasoning_content": found.kind.reasoning} if found.kind.reasoning else {}
        return says(found.text, finish=found.kind.finish, usage=usage, message=message, delay_s=self.delay_s)
