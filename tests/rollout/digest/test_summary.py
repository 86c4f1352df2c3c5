from envs_forge.rollout.digest.build import digest
from envs_forge.rollout.digest.summary import summarise
from envs_forge.rollout.trial import TrialStatus
from models.clients import client
from models.server import ModelServer, says
from rollout.jobs.trials import trial

FOUND = digest([trial(TrialStatus.FAILED)])


def test_a_model_says_it_in_a_line():
    with ModelServer([says("It sorted\nthe wrong \x1b[1mfile.")]) as server:
        told = summarise(FOUND, client(server))
    assert (told.text, told.model) == ("It sorted the wrong file.", "served")
    assert told.usage.completion_tokens == 10
    assert "1 failed" in str(server.requests[0])


def test_an_answer_of_no_use_is_empty_and_still_counted():
    with ModelServer([says("")]) as server:
        told = summarise(FOUND, client(server))
    assert (told.text, told.usage.prompt_tokens) == ("", 100)
