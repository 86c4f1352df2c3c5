"""`terminal`: a language model with a shell, over any OpenAI-compatible endpoint."""

from __future__ import annotations

from envs_forge.config import AgentSettings
from envs_forge.models.client import ModelClient
from envs_forge.models.probe import probe
from envs_forge.models.settings import EndpointSettings
from envs_forge.rollout.policies.terminal import prompting
from envs_forge.rollout.policies.terminal.decision import TOOL
from envs_forge.rollout.policies.terminal.episode import Episode
from envs_forge.rollout.policy import Attempt, PolicyIdentity, TaskView
from envs_forge.sandbox.engine import Sandbox

VERSION = "2"
"""Raised with every change of the agent's behaviour that its settings and prompts do not show."""


class TerminalPolicy:
    """Asks a model what to type, types it, shows the outcome, until one of them is through.

    Args:
        model: The model's name at the endpoint.
        endpoint: Where it is.
        agent: Limits and sampling.

    Raises:
        UserError: Address, key or model are wrong.
        PrerequisiteError: The endpoint does not answer.
    """

    def __init__(self, model: str, endpoint: EndpointSettings, agent: AgentSettings) -> None:
        self._agent = agent
        self._client = ModelClient(model, endpoint, agent.sampling)
        probed = probe(self._client, [TOOL] if agent.tools != "fenced" else [])
        self._native = probed.takes_tools or agent.tools == "native"
        self.identity = PolicyIdentity(
            kind="terminal",
            name=model,
            version=VERSION,
            settings={
                **agent.model_dump(mode="json"),
                "tools": "native" if self._native else "fenced",
                "prompts": f"{prompting.VERSION}-{prompting.digest()}",
                "served_model": probed.model,
            },
        )

    def cancel(self) -> None:
        """End every attempt under way, and every later one, at once. Callable from any thread."""
        self._client.cancel()

    def attempt(self, task: TaskView, sandbox: Sandbox, *, seed: int) -> Attempt:
        """Work until done or at a limit; see `Policy`.

        Raises:
            SpoiltAttemptError: The machine or the endpoint failed; it has what there was of the attempt.
        """
        episode = Episode(self._client, self._agent, native=self._native, task=task, sandbox=sandbox, seed=seed)
        return episode.run()
