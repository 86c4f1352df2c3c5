import pytest

from envs_forge.errors import UserError
from envs_forge.rollout.policies.command import CommandPolicy
from envs_forge.rollout.policies.make import make_policy
from envs_forge.rollout.privileged import PrivilegedPolicy


def test_the_plain_ones():
    assert make_policy("nop").identity.kind == "nop"
    oracle = make_policy("oracle")
    assert oracle.identity.kind == "oracle"
    assert isinstance(oracle, PrivilegedPolicy)
    assert not isinstance(make_policy("nop"), PrivilegedPolicy)


def test_the_builtin_policy_and_its_presets():
    assert make_policy("builtin").identity == make_policy("builtin:medium").identity
    assert make_policy("builtin:weak").identity != make_policy("builtin:strong").identity


def test_a_command_keeps_colons_of_its_path(tmp_path):
    path = tmp_path / "a:b"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    policy = make_policy(f"command:{path}")
    assert isinstance(policy, CommandPolicy)
    assert policy.identity.name == "a:b"


@pytest.mark.parametrize("spec", ["", "claude", "nop:x", "oracle:", "command", "command:", "builtin:", "builtin:huge"])
def test_others_are_one_line_with_the_fix(spec):
    with pytest.raises(UserError) as caught:
        make_policy(spec)
    assert caught.value.fix
    assert "\n" not in str(caught.value)
