"""From measured seeds to exactly N verified environments, as a run does it: plan, draw, plan again where it failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envs_forge.bundle.model import Bundle
from envs_forge.ledger.records import DecisionRecord
from envs_forge.plan.model import CandidateSkills, Choice, Projection, SeedInput
from envs_forge.plan.settings import PlanSettings
from envs_forge.plan.solve import ShortageError
from envs_forge.run.parts import Options
from envs_forge.run.place import NumberedPlan, Place
from envs_forge.run.planning import State, replan, seed_input, state_of
from envs_forge.study.candidates import Candidates, Record
from envs_forge.study.config import ArmConfig
from envs_forge.train.builtin.learner import TrainingTask
from envs_forge.train.builtin.measuring import Tally

DUPLICATE = "duplicate"
_SHARED = {"slot": 0, "optional": ()}
"""The same for every place, so that equal choices of two arms are equal bundles, made once. The slot only varies draws
that are alike; optional skills count where a candidate has them, but none is asked for."""


@dataclass(frozen=True)
class Environment:
    """An accepted candidate and the choice that it was made for."""

    task: TrainingTask
    choice: Choice


@dataclass(frozen=True)
class Made:
    """What an arm came to: its environments in the order of their slots, and what it took."""

    environments: tuple[Environment, ...]
    attempts: int
    """Draws."""
    plans: int
    rejections: Mapping[str, int]
    """Lost draws by stage and code."""
    objective: float
    """Of the last plan: the frontier scores of all choices, less what quotas cost."""


def inputs_of(
    arm: ArmConfig, seeds: Sequence[TrainingTask], rates: Sequence[Tally], options: Mapping[str, Options]
) -> list[SeedInput]:
    """What the planner is told of the pool. A blind arm is told the rates too and does not look at them."""
    return [
        seed_input(task.bundle.id, task.hash, rate.k, rate.n, _masked(arm, options[task.hash]))
        for task, rate in zip(seeds, rates, strict=True)
        if rate.n
    ]


def _masked(arm: ArmConfig, options: Options) -> Options:
    """The options without the projections that the arm does without."""
    return {
        action: f"{arm.name} does without" if action.partition("/")[0] in arm.without else own
        for action, own in options.items()
    }


class Maker:
    """Fills the N slots of one arm.

    Args:
        candidates: Where candidates come from.
        parents: The pool, by content hash.
        draws: Tries at a place.
        failed: For each parent, in which share of the rollouts that measured it each test failed.
    """

    def __init__(
        self,
        candidates: Candidates,
        parents: Mapping[str, Bundle],
        draws: int,
        failed: Mapping[str, Mapping[str, float]],
    ) -> None:
        self._candidates, self._parents, self._draws, self._failed = candidates, parents, draws, failed
        self._plans: list[NumberedPlan] = []
        self._decisions: list[DecisionRecord] = []
        self._made: dict[int, tuple[Record, Bundle]] = {}

    def make(self, inputs: Sequence[SeedInput], settings: PlanSettings) -> Made:
        """Work until N are accepted or no further plan can be made."""
        while True:
            state = state_of(self._plans, self._decisions, self._draws)
            if len(state.accepted) == settings.size:
                break
            if state.open:
                for place in state.open:
                    self._fill(place)
                continue
            numbered = self._replanned(inputs, settings, state)
            if numbered is None:
                break
            self._plans.append(numbered)
        return self._result(state)

    def _replanned(self, inputs: Sequence[SeedInput], settings: PlanSettings, state: State) -> NumberedPlan | None:
        """The next plan; None where nothing more can be made, so that the arm stays short of N."""
        realised = {slot: self._made[slot][0].realised for slot in state.accepted}
        try:
            return replan(inputs, settings, len(self._plans), state, realised)
        except ShortageError:
            return None

    def _fill(self, place: Place) -> None:
        for number in range(self._draws):
            draw = place.draw(number)
            failed = self._told(place.choice)
            assignment = draw.assignment.model_copy(update={**_SHARED, "failed": failed})
            record, bundle = self._candidates.get(assignment, self._parents[place.choice.seed_hash])
            taken = {made.content_hash for made, _ in self._made.values()} | self._parents.keys()
            if bundle is not None and record.content_hash not in taken:
                self._made[place.slot] = (record, bundle)
                self._decide(draw.key, record, accepted=True)
                return
            lost = record if bundle is None else Record(accepted=False, stage=DUPLICATE, code=DUPLICATE)
            self._decide(draw.key, lost, accepted=False)

    def _told(self, choice: Choice) -> Mapping[str, float]:
        """Failed tests as far as this generator looks at them: in three degrees, and for a reduction only."""
        if choice.action.projection is not Projection.REDUCE:
            return {}
        degrees = ((name, round(2 * share) / 2) for name, share in self._failed.get(choice.seed_hash, {}).items())
        return {name: degree for name, degree in degrees if degree}

    def _decide(self, key: Mapping[str, int], record: Record, *, accepted: bool) -> None:
        found = {"content_hash": record.content_hash or None, "stage": record.stage, "code": record.code}
        self._decisions.append(DecisionRecord(**key, accepted=accepted, **found))

    def _result(self, state: State) -> Made:
        lost = Counter(f"{d.stage}/{d.code}" for d in self._decisions if not d.accepted)
        environments = []
        for slot, (draw, _) in sorted(state.accepted.items()):
            record, bundle = self._made[slot]
            environments.append(Environment(TrainingTask(bundle, record.content_hash), draw.choice))
        return Made(
            environments=tuple(environments),
            attempts=len(self._decisions),
            plans=len(self._plans),
            rejections=dict(sorted(lost.items())),
            objective=self._plans[-1].plan.objective if self._plans else 0.0,
        )


def eligible(options: Options) -> bool:
    """Whether anything can be made of a seed."""
    return any(isinstance(own, CandidateSkills) for own in options.values())
