"""One trial of every status, as the runner makes them."""

from envs_forge.rollout.policy import Attempt, PolicyIdentity, Step, StopReason
from envs_forge.rollout.trial import COUNTED, Trial, TrialStatus
from envs_forge.sandbox.verification import RewardFault, Verification

POLICY = PolicyIdentity(kind="builtin", name="builtin:medium", version="1", settings={"temperature": 1.0})
HASH = "ab" * 32
STEPS = (
    Step(command="ls -la", exit_code=0, output="total 0\n", duration_s=0.1, note="look around"),
    Step(command="sort x > y", exit_code=None, output="\N{REPLACEMENT CHARACTER}", duration_s=2.0),
)


def trial(status=TrialStatus.PASSED, *, index=0, retry=0, reward=None, fault=None, bundle_id="count-lines", **more):
    if status in COUNTED and reward is None:
        reward = {TrialStatus.PASSED: 1.0, TrialStatus.PARTIAL: 0.25}.get(status, 0.0)
    verification = None
    if reward is not None or fault is not None:
        verification = Verification(reward=reward, fault=fault, metrics={"lines": 3.0}, output_tail="1 failed\n")
    fields = {
        "policy": POLICY,
        "attempt": Attempt(steps=STEPS, stopped=StopReason.DONE),
        "error": "" if status in COUNTED else "engine: gone",
        "started_at": "2025-03-04T05:06:07.890+00:00",
        "duration_s": 1.5,
    }
    return Trial(
        bundle_id=bundle_id,
        bundle_hash=HASH,
        index=index,
        retry=retry,
        seed=5,
        status=status,
        reward=reward,
        verification=verification,
        **{**fields, **more},
    )


def one_of_each():
    made = [trial(status, index=i) for i, status in enumerate(TrialStatus) if status is not TrialStatus.VERIFIER_ERROR]
    made += [trial(TrialStatus.VERIFIER_ERROR, index=20 + i, fault=fault) for i, fault in enumerate(RewardFault)]
    made.append(trial(TrialStatus.BUILD_ERROR, index=40, attempt=None))
    made.append(trial(TrialStatus.PASSED, index=41, retry=2, attempt=tokens()))
    made.append(trial(TrialStatus.PASSED, index=42, attempt=turns()))
    return made


def tokens():
    return Attempt(steps=STEPS, stopped=StopReason.DONE, prompt_tokens=100, completion_tokens=20)


def turns():
    """As the terminal agent leaves it: two commands in one answer, then the end."""
    usage = {"prompt_tokens": 50, "cached_tokens": 30, "completion_tokens": 10}
    first = {
        "outcome": "acted",
        "steps": 2,
        "text": "I look.",
        "reasoning": "Hm.",
        "model": "served",
        "usage": usage,
        "duration_s": 0.5,
        "spoilt": ["endpoint-429"],
    }
    last = {
        "outcome": "done",
        "steps": 0,
        "text": "DONE",
        "usage": usage,
        "logprobs": [{"text": "DONE", "logprob": -0.25}],
        "token_ids": [7],
        "prompt_token_ids": [1, 2],
    }
    extra = {"turns": [first, last], "tools": "native"}
    return tokens().model_copy(update={"cached_tokens": 60, "extra": extra})
