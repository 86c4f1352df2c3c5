import pytest

from envs_forge.errors import UserError
from envs_forge.rollout.identity import policy_key
from envs_forge.rollout.policies.cancel import Cancellable
from envs_forge.rollout.policies.make import make_policy
from envs_forge.rollout.policies.terminal import prompting
from models.clients import endpoint
from models.server import ModelServer, says

from .terminals import agent, policy


@pytest.fixture
def server():
    with ModelServer([says("DONE")]) as running:
        yield running


def test_identity_has_what_changes_behaviour(server, monkeypatch):
    plain = policy(server).identity
    assert (plain.kind, plain.name) == ("terminal", "asked")
    assert plain.settings["served_model"] == "served"
    assert plain.settings["tools"] == "native"
    assert plain.settings["prompts"] == f"{prompting.VERSION}-{prompting.digest()}"
    assert plain.settings["sampling"]["max_tokens"] == 50
    assert policy(server).identity == plain
    others = [policy(server, turns=3), policy(server, sampling={"temperature": 0.1}), policy(server, tools="fenced")]
    monkeypatch.setattr(prompting, "digest", lambda: "another wording")
    others.append(policy(server))
    assert len({policy_key(other.identity) for other in others} | {policy_key(plain)}) == 5


def test_identity_has_no_address_and_no_patience(server):
    assert policy(server, {"timeout_s": 9.0, "retries": 0}).identity == policy(server).identity
    assert "127.0.0.1" not in policy(server).identity.model_dump_json()


def test_one_request_settles_what_must_be_known(server):
    policy(server)
    assert (server.probes, server.requests) == (1, [])


def test_it_can_be_cancelled(server):
    assert isinstance(policy(server), Cancellable)


def test_it_is_made_from_what_a_user_types(server):
    made = make_policy("terminal", model="asked", endpoint=endpoint(server), agent=agent())
    assert made.identity == policy(server).identity
    with pytest.raises(UserError, match="needs a model"):
        make_policy("terminal")
    with pytest.raises(UserError, match="no model to choose"):
        make_policy("nop", model="x")


@pytest.mark.parametrize("native", [True, False])
def test_prompts_render_without_gaps(native):
    system = prompting.render(
        "system", native=native, workdir="/app", command_timeout="180", output_chars=12000, turns=40
    )
    assert ("```bash" in system) is not native
    assert "\n\n\n" not in system
    for outcome in ("empty", "cut", "refused", "done", "no-action"):
        remark = prompting.render("remark", outcome=outcome, native=native, max_tokens=50)
        assert len(remark.splitlines()) == 2
    task = prompting.render("task", native=native, instruction="{{ 1 + 1 }} {% raw %}")
    assert "\n\n{{ 1 + 1 }} {% raw %}\n\n" in task
