"""A study small enough for tests, without containers: rewards by what is right, every candidate gold."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.study.block import Ground
from envs_forge.study.candidates import Candidates
from envs_forge.study.config import ArmConfig, ReaderConfig, RegimeConfig, StudyConfig
from envs_forge.study.pools import chain_of, make_held_out, make_seeds
from envs_forge.synthesis.procedural.generator import ProceduralGenerator
from envs_forge.train.builtin.learner import TrainingTask
from envs_forge.train.builtin.settings import LearnerSettings
from envs_forge.train.rewards.source import Rewards
from envs_forge.train.rewards.store import RewardStore
from train.builtin.truth import obtain

CONFIG = StudyConfig(
    size=3,
    seeds=8,
    pool=5,
    held_out=4,
    replicates=2,
    rollouts=2,
    attempts=2,
    looks=2,
    learner=LearnerSettings(group=4, batch=2),
    regimes=(RegimeConfig(name="saturated", saturated=0.6, passes=1),),
    readers=(ReaderConfig(name="medium"),),
    arms=(
        ArmConfig(name="forge"),
        ArmConfig.model_validate({"name": "few-shot-blind", "recipe": "few-shot", "arm": "blind"}),
        ArmConfig(name="no-reduce", without=("reduce",)),
    ),
)


@lru_cache
def pools() -> tuple[tuple[Bundle, ...], tuple[Bundle, ...]]:
    seeds = make_seeds(CONFIG.seeds, CONFIG.seed, lambda bundle: bundle)
    return tuple(seeds), tuple(make_held_out(CONFIG.held_out, CONFIG.seed, lambda bundle: bundle, seeds))


def verdict(bundle: Bundle, decision: Decision = Decision.ACCEPTED) -> Verdict:
    return Verdict(
        bundle_id=bundle.id,
        bundle_hash=content_hash(bundle),
        decision=decision,
        stage="" if decision is Decision.ACCEPTED else "oracle",
        code="" if decision is Decision.ACCEPTED else "oracle-failed",
        stages=(),
        engine="fake",
        verifier_version="1",
        duration_s=0.0,
    )


def ground(root: Path, config: StudyConfig = CONFIG) -> Ground:
    seeds, held_out = ([TrainingTask(bundle, content_hash(bundle)) for bundle in bundles] for bundles in pools())
    generator = ProceduralGenerator(seed=config.seed)
    return Ground(
        config=config,
        seeds=seeds,
        held_out=held_out,
        options={task.hash: generator.options(task.bundle) for task in seeds},
        candidates=Candidates(root, generator, verdict, {chain_of(task.bundle) for task in held_out}),
        rewards=Rewards(obtain, RewardStore(root / "rewards.sqlite"), workers=1, stop=threading.Event()),
    )
