from __future__ import annotations

import json

from envs_forge.redaction import redact

ENVIRONMENT = {
    "OPENAI_API_KEY": 'sk-"quoted"-1234',
    "HF_TOKEN": "hf_abcdefgh",
    "KEYBOARD": "querty-layout",
    "PIN_KEY": "1234",
}


def test_secret_values_are_replaced_by_their_name() -> None:
    assert redact("Bearer hf_abcdefgh!", ENVIRONMENT) == "Bearer [HF_TOKEN redacted]!"


def test_a_secret_inside_a_json_string_is_found() -> None:
    document = json.dumps({"output": 'key=sk-"quoted"-1234'})
    assert json.loads(redact(document, ENVIRONMENT)) == {"output": "key=[OPENAI_API_KEY redacted]"}


def test_names_that_only_look_alike_and_short_values_stay() -> None:
    assert redact("querty-layout 1234", ENVIRONMENT) == "querty-layout 1234"


def test_one_secret_inside_another_does_not_leave_a_rest() -> None:
    environment = {"A_KEY": "abcdefgh", "B_KEY": "abcdefgh-and-more"}
    assert redact("abcdefgh-and-more", environment) == "[B_KEY redacted]"
