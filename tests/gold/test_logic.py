"""What verification concludes from what it sees; the containers are scripted."""

import contextlib
import threading
from pathlib import Path

import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.writing import write_bundle
from envs_forge.errors import DiskFullError, UserError
from envs_forge.gold.batch import verify_many
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.tamper.battery import script_of
from envs_forge.gold.verify import VERIFIER_VERSION, verify, verify_directory
from envs_forge.sandbox.images.model import BuildCode, BuildFault
from envs_forge.sandbox.verification import Isolation, RewardFault, Verification
from rollout.fakes import FakeRuntime, engine_died

from .tasks import TOML, task

FAST = VerifyOptions(stages=("untouched", "oracle"), pause_s=0.0)
REPEATED = FAST.model_copy(update={"stages": ("untouched", "repeat")})


def sound(call):
    return 1.0 if call.solved else 0.0


def judge(verdict, *, options=FAST, bundle=None, runtime=None):
    runtime = runtime or FakeRuntime({"count": verdict})
    result = verify(bundle or task(), runtime, options)
    assert runtime.alive == 0
    return result, runtime


def test_a_sound_bundle_is_accepted():
    verdict, runtime = judge(sound)
    assert (verdict.decision, verdict.stage, verdict.code) == ("accepted", "", "")
    assert [(stage.stage, stage.outcome) for stage in verdict.stages] == [
        ("schema", "passed"),
        ("build", "passed"),
        ("untouched", "passed"),
        ("oracle", "passed"),
    ]
    assert (runtime.count["verify", "count"], runtime.count["open", "count"]) == (2, 1)
    assert verdict.bundle_hash == content_hash(task())
    assert verdict.isolation is Isolation.FRESH
    assert (verdict.verifier_version, verdict.engine, verdict.image_id) == (VERIFIER_VERSION, "fake", "sha256:0")


@pytest.mark.parametrize("reward", [1.0, 0.5, 0.001])
def test_an_untouched_environment_that_scores_is_rejected(reward):
    verdict, _ = judge(lambda call: 1.0 if call.solved else reward)
    assert (verdict.decision, verdict.stage, verdict.code) == ("rejected", "untouched", "untouched-scores")


def test_the_threshold_for_partial_rewards_is_configurable():
    half = FAST.model_copy(update={"untouched_max": 0.5})
    assert judge(lambda call: 1.0 if call.solved else 0.5, options=half)[0].decision == "accepted"


@pytest.mark.parametrize("fault", list(RewardFault))
@pytest.mark.parametrize("solved", [False, True])
def test_every_reward_fault_is_a_rejection_with_its_own_code(fault, solved):
    broken = Verification(reward=None, fault=fault, output_tail="the end")
    verdict, _ = judge(lambda call: broken if call.solved == solved else sound(call))
    assert (verdict.decision, verdict.stage, verdict.code) == (
        "rejected",
        "oracle" if solved else "untouched",
        fault.value,
    )
    assert "the end" in verdict.stages[-1].evidence


def test_an_oracle_that_fails_is_rejected_with_both_outputs():
    verdict, _ = judge(lambda call: Verification(reward=0.0, fault=None, output_tail="expected 3", exit_code=1))
    assert (verdict.stage, verdict.code) == ("oracle", "oracle-fails")
    assert "solved" in verdict.stages[-1].evidence
    assert "expected 3" in verdict.stages[-1].evidence


def test_an_oracle_that_gets_part_of_the_reward_fails():
    assert judge(lambda call: 0.9 if call.solved else 0.0)[0].code == "oracle-fails"


def test_an_oracle_that_runs_out_of_time_is_not_verified():
    runtime = FakeRuntime({"count": sound})
    runtime.slow.add("count")
    verdict, _ = judge(sound, runtime=runtime)
    assert (verdict.stage, verdict.code) == ("oracle", "oracle-timeout")
    assert runtime.count["verify", "count"] == 1


def test_a_task_that_needs_its_processes_is_accepted_live():
    verdict, runtime = judge(lambda call: 1.0 if call.solved and call.isolation is Isolation.LIVE else 0.0)
    assert (verdict.decision, verdict.isolation) == ("accepted", Isolation.LIVE)
    assert verdict.stages[-1].warnings
    assert runtime.isolations.count(Isolation.LIVE) == 1


def test_hacks_that_only_live_lets_pay_are_a_warning_and_others_a_rejection():
    def lets(paying):
        def judged(call):
            live = call.isolation is Isolation.LIVE
            return 1.0 if (call.solved and live) or any(hack in " ".join(call.ran) for hack in paying) else 0.0

        options = FAST.model_copy(update={"stages": ("tamper",)})
        return judge(judged, options=options)[0]

    weak = lets(["sitecustomize.py", "usercustomize.py"])
    assert (weak.decision, weak.isolation) == ("accepted", Isolation.LIVE)
    assert "where 2 hacks pay: a sitecustomize, a user's own site" in weak.stages[-1].warnings[0]
    broken = lets(["sitecustomize.py", "chmod 444"])
    assert broken.code == "hack-pays"
    assert broken.stages[-1].message.endswith(": a reward that cannot be written again")


def test_a_group_that_pays_by_a_race_blames_nobody_beside_a_service():
    one_hack = script_of([]).count("\n( ") + 1

    def judged(call):
        together = any(words.count("\n( ") > one_hack for words in call.ran)
        return 1.0 if (call.solved and call.isolation is Isolation.LIVE) or together else 0.0

    verdict, _ = judge(judged, options=FAST.model_copy(update={"stages": ("tamper",)}))
    assert (verdict.decision, verdict.stages[-1].warnings) == ("accepted", ())


def test_an_oracle_that_fails_once_is_flaky_and_not_live():
    failures = iter([True, False, False, False])
    verdict, _ = judge(lambda call: (0.0 if next(failures) else 1.0) if call.solved else 0.0)
    assert (verdict.stage, verdict.code) == ("oracle", "flaky")


def test_an_oracle_that_fails_a_later_time_is_flaky():
    failures = iter([False, False, True, False, False, False, False, False, False])
    verdict, _ = judge(lambda call: (0.0 if next(failures) else 1.0) if call.solved else 0.0, options=REPEATED)
    assert (verdict.stage, verdict.code) == ("repeat", "flaky")
    assert "it failed once and then no more" in verdict.stages[-1].message


@pytest.mark.parametrize("runs", [1, 3, 6])
def test_the_solution_runs_as_often_as_asked_for(runs):
    verdict, runtime = judge(sound, options=REPEATED.model_copy(update={"oracle_runs": runs}))
    assert verdict.decision == "accepted"
    assert runtime.count["verify", "count"] == 1 + runs
    assert len(verdict.stages[-1].facts["varied"]) == runs - 1


@pytest.mark.parametrize(
    ("code", "decision"),
    [
        (BuildCode.FAILED, "rejected"),
        (BuildCode.TIMEOUT, "rejected"),
        (BuildCode.BAD_DOCKERFILE, "rejected"),
        (BuildCode.NEEDS_NETWORK, "unsupported"),
        (BuildCode.BASE_UNAVAILABLE, "unsupported"),
    ],
)
def test_build_faults(code, decision):
    runtime = FakeRuntime()
    fault = BuildFault(code=code, message="why", log_tail="step 2", substitutions={"ubuntu:24.04": "local"})
    runtime.build_faults["count"] = fault
    verdict, _ = judge(sound, runtime=runtime)
    assert (verdict.decision, verdict.stage, verdict.code) == (decision, "build", code.value)
    assert verdict.stages[-1].evidence == "step 2"
    assert verdict.base_substitutions == {"ubuntu:24.04": "local"}
    assert runtime.count["open", "count"] == 0


def test_a_bundle_with_a_broken_form_is_never_built():
    verdict, runtime = judge(sound, bundle=task(tests=None))
    assert (verdict.decision, verdict.stage, verdict.code) == ("rejected", "schema", "tests-missing")
    assert runtime.calls == []


def test_what_this_machine_cannot_run_is_unsupported():
    verdict, runtime = judge(sound, bundle=task(toml=TOML + "gpus = 1\n"))
    assert (verdict.decision, verdict.stage, verdict.code) == ("unsupported", "schema", "gpu")
    assert runtime.calls == []


def test_a_machine_fault_is_retried_and_then_an_error_never_a_rejection():
    verdict, _ = judge(lambda call: engine_died() if call.tries == 1 else sound(call))
    assert verdict.decision == "accepted"
    verdict, runtime = judge(lambda call: engine_died("disk-full"))
    assert (verdict.decision, verdict.stage, verdict.code) == ("error", "untouched", "disk-full")
    assert runtime.count["verify", "count"] == 2


def test_a_defect_of_the_verifier_is_an_error_with_its_place():
    verdict, _ = judge(lambda call: ZeroDivisionError("ours"))
    assert (verdict.decision, verdict.code) == ("error", "internal")
    assert "Traceback" in verdict.stages[-1].evidence


def test_a_directory_that_is_no_bundle_is_rejected_with_all_findings(tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "task.toml").write_text("[metadata\n")
    verdict = verify_directory(tmp_path / "broken", FakeRuntime(), FAST)
    assert (verdict.bundle_id, verdict.decision, verdict.stage) == ("broken", "rejected", "schema")
    assert verdict.code == "toml-syntax"


def test_many_bundles_keep_their_order_and_one_broken_does_not_end_the_batch(tmp_path):
    runtime = FakeRuntime({"good": sound, "odd": lambda call: engine_died()})
    write_bundle(task("good"), tmp_path)
    (tmp_path / "bad").mkdir()
    heard = []
    verdicts = verify_many(
        [tmp_path / "bad", tmp_path / "good", task("odd"), task("good")],
        runtime,
        FAST,
        concurrency=3,
        on_verdict=lambda verdict, bundle: heard.append((verdict.bundle_id, type(bundle))),
    )
    assert [verdict.decision for verdict in verdicts] == ["rejected", "accepted", "error", "accepted"]
    assert ("bad", type(Path())) in heard
    assert len(heard) == 4


def test_a_directory_that_is_gone_when_its_turn_comes_does_not_end_the_batch(tmp_path):
    verdicts = verify_many([tmp_path / "gone", task("good")], FakeRuntime({"good": sound}), FAST)
    assert [(v.bundle_id, v.decision, v.code) for v in verdicts] == [
        ("gone", "error", "gone"),
        ("good", "accepted", ""),
    ]


def test_a_stage_that_does_not_exist_is_refused_before_anything_runs():
    with pytest.raises(UserError, match="no stage"):
        verify_many([task("good")], FakeRuntime(), FAST.model_copy(update={"stages": ("orcale",)}))


def test_a_callback_that_fails_ends_the_batch_and_is_heard():
    def callback(verdict, bundle):
        raise DiskFullError("full")

    runtime = FakeRuntime()
    with pytest.raises(DiskFullError):
        verify_many([task(f"t{i}") for i in range(50)], runtime, FAST, on_verdict=callback)
    assert len({name for what, name in runtime.calls}) < 50


def test_stopping_abandons_what_is_under_way():
    stop = threading.Event()

    def slow(call):
        stop.set()
        runtime.closed.wait(30)
        return engine_died()

    runtime = FakeRuntime({"slow": slow})
    heard = []
    verdicts = verify_many(
        [task("slow")], runtime, FAST, stop=stop, on_verdict=lambda verdict, bundle: heard.append(verdict)
    )
    assert verdicts == heard == []
    assert runtime.closed.is_set()


@pytest.mark.parametrize("workers", [1, 4])
def test_one_bundle_may_have_several_sandboxes_at_once(workers):
    running, most, lock = set(), [0], threading.Lock()
    met = threading.Barrier(2)

    def judged(call):
        with lock:
            running.add(threading.get_ident())
            most[0] = max(most[0], len(running))
        if workers > 1 and call.ran:
            with contextlib.suppress(threading.BrokenBarrierError):
                met.wait(30)
        with lock:
            running.discard(threading.get_ident())
        return sound(call)

    verdicts = verify_many(
        [task()], FakeRuntime({"count": judged}), VerifyOptions(stages=("untouched", "tamper")), concurrency=workers
    )
    assert verdicts[0].decision == "accepted"
    assert (most[0] > 1) == (workers > 1)
