"""Conducts a loop: each round a run, a training and an evaluation, each of which goes on where it was stopped."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from envs_forge.cli.conduct import conduct, go_on, pool_of, seeds_of
from envs_forge.cli.console import note
from envs_forge.cli.training import conduct_training
from envs_forge.config import RunConfig
from envs_forge.errors import ForgeError, UserError
from envs_forge.files import write_json
from envs_forge.run.directory import RunDirectory
from envs_forge.run.evaluated import stored_evaluation
from envs_forge.run.parts import open_parts
from envs_forge.run.result import RunResult
from envs_forge.run.rounds import (
    RESULT,
    LoopConfig,
    LoopResult,
    RoundDirectory,
    RoundFigures,
    adopt,
    figures,
    keep_config,
    reason_to_stop,
    round_directory,
)
from envs_forge.run.seeds import load_seeds, select_paths
from envs_forge.run.stored import finished_result
from envs_forge.train.builtin.config import TrainingConfig
from envs_forge.train.builtin.result import TrainingResult
from envs_forge.train.evaluation import Evaluation


def conduct_loop(root: Path, config: RunConfig, loop: LoopConfig, *, quiet: bool) -> LoopResult:
    """Work through the rounds until the last one, or a reason to stop.

    Raises:
        InterruptedRunError: With the way on.
        UserError: The directory holds another loop, or a round cannot make its environments.
        InfrastructureError: The machine failed.
    """
    wanted = {"run": config.model_dump(mode="json"), "loop": loop.model_dump(mode="json")}
    keep_config(root, {"schema_version": 1, **wanted})
    try:
        return _rounds(root, _with_own_seeds(config), loop, quiet=quiet)
    except ForgeError as error:
        if error.exit_code == 130:
            error.fix = "the same command goes on with it"
        raise


def _rounds(root: Path, config: RunConfig, loop: LoopConfig, *, quiet: bool) -> LoopResult:
    before = _pass_at_1(_evaluate(RunDirectory(root / "before"), config.policy, config, loop, quiet=quiet))
    found: list[RoundFigures] = []
    policy, stopped = config.policy, ""
    while not stopped:
        place = round_directory(root, len(found) + 1)
        parents = [str(round_directory(root, number).parents) for number in range(1, place.number)]
        if not quiet:
            note(f"round {place.number} of {loop.rounds}")
        run = _run(place, config.model_copy(update={"policy": policy, "seeds": (*config.seeds, *parents)}), quiet=quiet)
        training = _train(place, policy, config, loop, quiet=quiet)
        policy = f"builtin:{place.parameters}"
        adopt(place)
        found.append(
            figures(place.number, run, training, _evaluate(place.evaluation, policy, config, loop, quiet=quiet))
        )
        stopped = reason_to_stop(found, before, loop)
        result = LoopResult(rounds=tuple(found), before=before, stopped=stopped)
        write_json(root / RESULT, result.model_dump(mode="json"))
    return result


def _with_own_seeds(config: RunConfig) -> RunConfig:
    """The config with its seeds one by one: globs and limit are about the pool, not about environments of a round."""
    paths = select_paths(config.seeds, include=config.include, exclude=config.exclude, limit=config.limit)
    update = {"seeds": tuple(str(path.absolute()) for path in paths), "include": (), "exclude": (), "limit": None}
    return config.model_copy(update=update)


def _run(place: RoundDirectory, config: RunConfig, *, quiet: bool) -> RunResult:
    result = _worked(place.run, config, quiet=quiet)
    if not result.exported:
        raise UserError(
            f"round {place.number} made {result.accepted} of {result.requested} environments, too few to go on",
            fix="ask for fewer with -N, or give --allow-short",
        )
    return result


def _worked(directory: RunDirectory, config: RunConfig, *, quiet: bool) -> RunResult:
    """A run or a measurement in this directory, begun, gone on with, or found to be done."""
    directory.root.mkdir(parents=True, exist_ok=True)
    with directory.hold():
        if directory.config.is_file():
            done = finished_result(directory, config)
            return done if done is not None else go_on(directory, config, quiet=quiet)
        seeds = seeds_of(config)
        with contextlib.closing(open_parts(config)) as parts:
            pool = pool_of(config, seeds, parts, quiet=quiet)
            return conduct(directory, config, pool, parts, quiet=quiet, command="loop")


def _train(place: RoundDirectory, policy: str, config: RunConfig, loop: LoopConfig, *, quiet: bool) -> TrainingResult:
    result = place.training / "result.json"
    if result.is_file():
        stored = TrainingResult.model_validate(json.loads(result.read_bytes()))
        if stored.state == "done":
            return stored
    wanted = TrainingConfig(
        policy=policy,
        learner=loop.learner,
        engine=config.engine,
        network=config.network,
        concurrency=config.concurrency,
    )
    seeds = load_seeds(select_paths([place.run.export]))
    place.training.mkdir(parents=True, exist_ok=True)
    with RunDirectory(place.training).hold():
        return conduct_training(place.training, wanted, seeds, quiet=quiet)


def _evaluate(
    directory: RunDirectory, policy: str, config: RunConfig, loop: LoopConfig, *, quiet: bool
) -> Evaluation | None:
    if not loop.held_out:
        return None
    update = {
        "goal": "pass-rates",
        "seeds": loop.held_out,
        "include": (),
        "exclude": (),
        "limit": None,
        "policy": policy,
        "rollouts": loop.attempts,
    }
    _worked(directory, config.model_copy(update=update), quiet=quiet)
    return stored_evaluation(directory)


def _pass_at_1(evaluation: Evaluation | None) -> float | None:
    found = evaluation.valid.pass_at.get(1) if evaluation is not None else None
    return found.value if found is not None else None
