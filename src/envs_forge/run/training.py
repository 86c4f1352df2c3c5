"""A training of the builtin policy in a directory: begun, broken off, gone on with.

config.json            what was asked for, with the tasks' content hashes and the parameters it starts from
metrics.jsonl          a line a step
checkpoints/           the parameters after some steps, whole
rewards.sqlite         rewards by what was done, each first from a container, and the audits
parameters.json        the trained policy: `--policy builtin:DIR/parameters.json`
result.json            the figures, counted from the above
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from envs_forge import __version__
from envs_forge.config import RunConfig
from envs_forge.files import write_json, write_text
from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters
from envs_forge.rollout.policies.builtin.stored import write_parameters
from envs_forge.run.parts import cores, open_runtime_for
from envs_forge.run.request import begun
from envs_forge.run.seeds import Seed
from envs_forge.train.builtin.config import TrainingConfig, start_of
from envs_forge.train.builtin.learner import Learner, StepMetrics, TrainingTask, visits
from envs_forge.train.builtin.result import TrainingResult, training_result
from envs_forge.train.builtin.sampler import Sampler
from envs_forge.train.rewards.containers import Containers, Obtain
from envs_forge.train.rewards.source import Rewards, StoppedError
from envs_forge.train.rewards.store import RewardStore

CONFIG, METRICS, CHECKPOINTS, REWARDS = "training.json", "metrics.jsonl", "checkpoints", "rewards.sqlite"
PARAMETERS, RESULT = "parameters.json", "result.json"


class Training:
    """A training in its directory, which the caller holds.

    Args:
        root: The directory; made when it is not there.
        config: What is wanted.
        seeds: The tasks.
        stop: Set it to end early; what was finished is kept.
        on_step: Told of each step.

    Raises:
        UserError: The directory holds a training that was asked for otherwise; names the keys.
    """

    def __init__(
        self,
        root: Path,
        config: TrainingConfig,
        seeds: Sequence[Seed],
        *,
        stop: threading.Event | None = None,
        on_step: Callable[[StepMetrics], None] = lambda metrics: None,
    ) -> None:
        self._root, self._config = root, config
        self._tasks = [TrainingTask(seed.bundle, seed.hash) for seed in seeds]
        self._stop = stop or threading.Event()
        self._on_step = on_step
        self._start = start_of(config.policy)
        self._keep_config({seed.id: seed.hash for seed in seeds})

    @property
    def steps(self) -> int:
        """How many steps it has."""
        settings = self._config.learner
        return math.ceil(len(visits(self._tasks, settings)) / settings.batch)

    def run(self) -> TrainingResult:
        """Train from the last checkpoint on.

        Raises:
            StoppedError: `stop` was set.
            InfrastructureError: In one step the machine spoilt every group.
            PrerequisiteError: No engine can run here.
        """
        runtime = open_runtime_for(RunConfig(engine=self._config.engine, network=self._config.network))
        with runtime:
            return self.run_with(Containers(runtime), engine=runtime.engine.name)

    def run_with(self, obtain: Obtain, *, engine: str = "") -> TrainingResult:
        """`run` with rewards from elsewhere."""
        with RewardStore(self._root / REWARDS) as store:
            rewards = Rewards(
                obtain,
                store if self._config.remember else None,
                workers=self._config.concurrency or cores(),
                engine=engine,
                stop=self._stop,
            )
            done, parameters = self._newest()
            learner = Learner(self._tasks, Sampler(parameters), rewards, self._config.learner)
            metrics = self._metrics()[:done]
            try:
                for number in range(done, learner.steps):
                    if self._stop.is_set():
                        raise StoppedError("stopped; what was finished is kept")
                    metrics.append(learner.step(number))
                    self._keep_metrics(metrics)
                    if metrics[-1].step % self._config.checkpoint_every == 0:
                        self._checkpoint(metrics[-1].step, learner)
                    self._on_step(metrics[-1])
            finally:
                if metrics:
                    self._checkpoint(metrics[-1].step, learner)
            write_parameters(self._root / PARAMETERS, learner.sampler.parameters)
            audits, mismatched = store.audited()
            result = training_result(
                metrics,
                of_steps=learner.steps,
                tasks=len(self._tasks),
                audits=audits,
                mismatches=[bundle for bundle, _ in mismatched],
            )
        write_json(self._root / RESULT, result.model_dump(mode="json"))
        return result

    def _newest(self) -> tuple[int, BuiltinParameters]:
        """Steps that are done and the parameters after them."""
        files = sorted((self._root / CHECKPOINTS).glob("step-*.json"))
        if not files:
            return 0, self._start
        table = json.loads(files[-1].read_bytes())
        return table["step"], BuiltinParameters.model_validate(table["parameters"])

    def _checkpoint(self, step: int, learner: Learner) -> None:
        table = {"schema_version": 1, "step": step, "parameters": learner.sampler.parameters.model_dump(mode="json")}
        write_json(self._root / CHECKPOINTS / f"step-{step:05d}.json", table)

    def _keep_metrics(self, metrics: Sequence[StepMetrics]) -> None:
        """Before the checkpoint of the same step, which so never knows more than they do."""
        write_text(self._root / METRICS, "".join(f"{line.model_dump_json()}\n" for line in metrics))

    def _metrics(self) -> list[StepMetrics]:
        try:
            lines = (self._root / METRICS).read_text("utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [StepMetrics.model_validate_json(line) for line in lines]

    def _keep_config(self, tasks: dict[str, str]) -> None:
        essence = self._config.model_dump(mode="json", exclude={"engine", "concurrency", "checkpoint_every", "policy"})
        wanted: dict[str, Any] = {**essence, "start": self._start.digest, "tasks": tasks}
        path = self._root / CONFIG
        if begun(path, wanted, what="training"):
            return
        write_json(path, {"schema_version": 1, "version": __version__, **self._config.model_dump(mode="json"), **wanted,
                          "parameters": self._start.model_dump(mode="json")})  # fmt: skip
