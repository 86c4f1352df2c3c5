"""What adaptive rollouts save, in a small version of the repository's simulation."""

import importlib.util
import sys
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "adaptive.py"


def load():
    spec = importlib.util.spec_from_file_location("adaptive_simulation", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_sixty_percent_of_the_rollouts_reach_the_value_of_eight_of_each():
    simulation = load()
    differences, shares = [], []
    for pool in ("uniform", "ushape", "hard", "logit"):
        for number in range(4):
            dice = np.random.default_rng([number, 7])
            world = simulation.World(simulation.POOLS[pool](dice, 80), dice, 16, 8)
            options = simulation.AdaptiveOptions(budget=int(0.6 * 8 * 80), size=8, batch=12)
            n = simulation.adaptive(world, options)
            differences.append(world.value(n) - world.value(np.full(80, 8)))
            shares.append(n.sum() / (8 * 80))
            assert n.min() >= options.start
            assert n.max() <= options.cap
    assert max(shares) <= 0.6
    assert np.mean(differences) >= 0.0
