import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.errors import UserError
from envs_forge.gold.cache import VerdictCache
from envs_forge.gold.order import FAST, STAGES, select
from envs_forge.gold.verify import verify
from envs_forge.sandbox.runtime import Caps
from rollout.fakes import FakeRuntime, engine_died

from .tasks import TOML, task
from .test_logic import FAST as QUICK
from .test_logic import sound


@pytest.fixture
def cache(tmp_path):
    return VerdictCache(tmp_path)


def runs(bundle, cache, *, verdict=sound, options=QUICK, caps=None):
    runtime = FakeRuntime({bundle.id: verdict})
    runtime.caps = caps or Caps()
    return verify(bundle, runtime, options, cache=cache), sum(runtime.count.values())


def test_an_unchanged_bundle_is_not_verified_again(cache):
    first, work = runs(task("a"), cache)
    again, none = runs(task("b"), cache)
    assert (work > 0, none) == (True, 0)
    assert (again.cached, again.bundle_id) == (True, "b")
    assert again.model_copy(update={"cached": False, "bundle_id": "a"}) == first


def test_a_rejection_is_kept_too(cache):
    runs(task("a"), cache, verdict=1.0)
    again, none = runs(task("a"), cache)
    assert (again.code, none) == ("untouched-scores", 0)


def test_whatever_matters_makes_another_verdict(cache):
    runs(task("a"), cache)
    assert runs(task("a", instruction="Do something else.\n"), cache)[1] > 0
    assert runs(task("a"), cache, options=QUICK.model_copy(update={"oracle_runs": 4}))[1] > 0
    assert runs(task("a"), cache, caps=Caps(network=False))[1] > 0
    assert runs(task("a"), cache, options=QUICK.model_copy(update={"retries": 7}))[1] == 0


def test_more_is_asked_of_our_own(cache):
    ours = f"{TOML}\n[metadata.envs_forge]\nspec_version = 1\n"
    assert content_hash(task("a", toml=ours)) == content_hash(task("a"))
    runs(task("a"), cache)
    assert runs(task("a", toml=ours), cache)[1] > 0
    assert runs(task("a", toml=f'{ours}guards = ["x"]\n'), cache)[1] > 0
    assert runs(task("a", toml=f"{ours}guards = 3\n"), cache)[1] == 0


def test_what_the_machine_could_not_do_is_tried_again(cache):
    assert runs(task("a"), cache, verdict=lambda call: engine_died())[0].decision == "error"
    assert runs(task("a"), cache)[0].decision == "accepted"


def test_a_damaged_entry_counts_as_absent(cache, tmp_path):
    runs(task("a"), cache)
    (entry,) = (tmp_path / "verdicts").rglob("*.json")
    entry.write_text(entry.read_text()[:50])
    assert runs(task("a"), cache)[1] > 0


def test_stages_come_with_what_they_need_and_in_order():
    assert [stage.name for stage in select(["oracle"])] == ["schema", "build", "oracle"]
    assert [stage.name for stage in select(["oracle", "untouched"])] == ["schema", "build", "untouched", "oracle"]
    assert select([]) == STAGES
    assert [stage.name for stage in select(FAST)] == list(FAST)
    with pytest.raises(UserError, match="no stage 'orcale'"):
        select(["orcale"])


def test_all_findings_goes_on_where_it_can():
    runtime = FakeRuntime({"count": lambda call: 0.0 if call.solved else 1.0})
    verdict = verify(task(), runtime, QUICK.model_copy(update={"all_findings": True}))
    assert (verdict.stage, verdict.code) == ("untouched", "untouched-scores")
    assert [stage.code for stage in verdict.stages] == ["", "", "untouched-scores", "oracle-fails"]
    broken = verify(task(tests=None), runtime, QUICK.model_copy(update={"all_findings": True}))
    assert [stage.stage for stage in broken.stages] == ["schema"]
