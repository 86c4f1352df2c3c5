"""The course of one arm: in each round measure, choose, make, train, with what the whole budget allows by then.

With one round the pool is measured once and the arm trains to the end of its budget. With more, later rounds measure
the policy as it is by then, on the pool and on all that was accepted before, and make their share of the N environments
from both; rollouts a seed are divided among the rounds, so that measuring costs about the same in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from envs_forge.plan.settings import Arm
from envs_forge.run.parts import Options
from envs_forge.study.block import Block
from envs_forge.study.choosing import Environment, Made, Maker, inputs_of
from envs_forge.study.config import ArmConfig
from envs_forge.train.builtin.learner import Learner, StepMetrics, TrainingTask
from envs_forge.train.builtin.measuring import Tally


class Course:
    """Runs one arm. What it came to is in its attributes.

    Args:
        block: What all arms share.
        arm: How to choose.

    Attributes:
        environments: Accepted environments, in the order in which they were made.
        children: What the policy made of each of them before it was trained on it; paid by nobody.
        made: Each round's choice.
        metrics: Steps of the training.
        looks: Rollouts spent and the held-out tasks at that point, from the untrained policy on.
        measuring: Rollouts that measuring cost.
    """

    def __init__(self, block: Block, arm: ArmConfig) -> None:
        self._block, self._arm = block, arm
        self._sampler = block.sampler()
        self._budget = block.ground.config.budget(block.regime)
        self.environments: list[Environment] = []
        self.children: list[Tally] = []
        self.made: list[Made] = []
        self.metrics: list[StepMetrics] = []
        self.looks: list[tuple[int, Sequence[Tally]]] = []
        self.measuring = 0

    @property
    def training(self) -> int:
        """Rollouts of the training."""
        return sum(step.rollouts for step in self.metrics)

    @property
    def rejections(self) -> Mapping[str, int]:
        """Lost draws of all rounds by stage and code."""
        return dict(sorted(sum((Counter(made.rejections) for made in self.made), Counter()).items()))

    def run(self) -> None:
        """Go through all rounds.

        Raises:
            InfrastructureError: The machine failed; nothing of it counts as a reward.
            StoppedError: Told to stop.
        """
        rounds, size = self._arm.rounds, self._block.ground.config.size
        for number in range(rounds):
            parents = self._parents()
            share = size * (number + 1) // rounds - len(self.environments)
            new = self._make(number, parents, share) if share else []
            self.environments += new
            self.children += self._block.children([one.task for one in new], self._sampler)
            if not self.looks:
                self.looks.append((self.measuring, self._block.base))
            self._train([one.task for one in new], self._budget * (number + 1) // rounds)

    def _parents(self) -> list[TrainingTask]:
        """The pool and what was accepted so far, under names of their own."""
        accepted = (one.task for one in self.environments)
        named = (
            TrainingTask(task.bundle.model_copy(update={"id": f"child-{task.hash[:16]}"}), task.hash)
            for task in accepted
        )
        return [*self._block.pool, *named]

    def _make(self, number: int, parents: Sequence[TrainingTask], size: int) -> Sequence[Environment]:
        arm, ground = self._arm, self._block.ground
        blind = arm.arm is Arm.BLIND
        rollouts = max(1, (arm.rollouts or ground.config.rollouts) // arm.rounds)
        rates = self._block.rates(rollouts) if number == 0 else self._block.again(parents, self._sampler, rollouts)
        self.measuring += 0 if blind else rollouts * len(parents)
        options = {task.hash: self._options(task) for task in parents}
        inputs = inputs_of(arm, parents, rates, options)
        told = {task.hash: rate.failed for task, rate in zip(parents, rates, strict=True) if arm.told and not blind}
        bundles = {task.hash: task.bundle for task in parents}
        maker = Maker(ground.candidates, bundles, ground.config.draws, told)
        self.made.append(maker.make(inputs, arm.plan(size, self._block.replicate)))
        return self.made[-1].environments

    def _options(self, task: TrainingTask) -> Options:
        known = self._block.ground.options.get(task.hash)
        return known if known is not None else self._block.ground.candidates.options(task.bundle)

    def _train(self, tasks: Sequence[TrainingTask], until: int) -> None:
        """Train until so many rollouts are spent in all, with looks on the way. Without tasks nothing happens."""
        config = self._block.ground.config
        groups = (until - self.measuring - self.training) // config.learner.group
        if not tasks or groups < 1:
            return
        settings = config.learner.model_copy(update={"groups": groups, "seed": self._block.replicate})
        learner = Learner(tasks, self._sampler, self._block.ground.rewards, settings)
        looks = max(1, config.looks // self._arm.rounds)
        stops = {round(learner.steps * part / looks) for part in range(1, looks + 1)}
        for number in range(learner.steps):
            self.metrics.append(learner.step(number))
            if number + 1 in stops:
                self.looks.append((self.measuring + self.training, self._block.evaluate(self._sampler)))
