from envs_forge.rollout.identity import policy_key, trial_seed
from envs_forge.rollout.policy import PolicyIdentity

ONE = PolicyIdentity(kind="k", name="n", version="1", settings={"a": 1, "b": 2})


def test_the_order_of_settings_does_not_matter():
    assert policy_key(ONE) == policy_key(ONE.model_copy(update={"settings": {"b": 2, "a": 1}}))


def test_whatever_changes_behaviour_changes_the_key():
    for change in ({"kind": "x"}, {"name": "x"}, {"version": "x"}, {"settings": {"a": 1}}):
        assert policy_key(ONE) != policy_key(ONE.model_copy(update=change))


def test_seeds_are_pinned_and_differ_by_bundle_policy_and_index():
    seeds = {trial_seed(b, p, i) for b in "xy" for p in (ONE, ONE.model_copy(update={"name": "m"})) for i in range(50)}
    assert len(seeds) == 200
    assert all(0 <= s < 2**63 for s in seeds)
    assert trial_seed("x", ONE, 0) == 5812822010864967928
