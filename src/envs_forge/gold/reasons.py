"""Reason codes of verdicts, with what each means. `docs/verification.md` shows the same table."""

from __future__ import annotations

from enum import StrEnum

from envs_forge.sandbox.images.model import BuildCode
from envs_forge.sandbox.verification import RewardFault


class Reason(StrEnum):
    """Why a stage did not pass. Schema and lint findings bring codes of their own.

    Codes never change their meaning; a new meaning gets a new code.
    """

    NO_IMAGE = BuildCode.NO_IMAGE.value
    BAD_DOCKERFILE = BuildCode.BAD_DOCKERFILE.value
    BUILD_FAILED = BuildCode.FAILED.value
    BUILD_TIMEOUT = BuildCode.TIMEOUT.value
    BASE_UNAVAILABLE = BuildCode.BASE_UNAVAILABLE.value
    NEEDS_NETWORK = BuildCode.NEEDS_NETWORK.value

    UNSUPPORTED_TASK = BuildCode.UNSUPPORTED.value
    COMPOSE_MISSING = BuildCode.COMPOSE_MISSING.value
    COMPOSE_REFUSED = BuildCode.COMPOSE_REFUSED.value
    NO_SHELL = "no-shell"
    COMPANION_FAILED = "companion-failed"

    REWARD_MISSING = RewardFault.MISSING.value
    REWARD_EMPTY = RewardFault.EMPTY.value
    REWARD_UNPARSABLE = RewardFault.UNPARSABLE.value
    REWARD_NOT_FINITE = RewardFault.NOT_FINITE.value
    REWARD_OUT_OF_RANGE = RewardFault.OUT_OF_RANGE.value
    REWARD_CONFLICT = RewardFault.CONFLICT.value
    REWARD_NOT_A_FILE = RewardFault.NOT_A_FILE.value
    REWARD_TOO_LARGE = RewardFault.TOO_LARGE.value
    VERIFIER_TIMEOUT = RewardFault.TIMEOUT.value

    SOLUTION_IN_IMAGE = "solution-in-image"
    TESTS_IN_IMAGE = "tests-in-image"
    ANSWER_IN_IMAGE = "answer-in-image"
    UNTOUCHED_SCORES = "untouched-scores"
    PASSES_UNTOUCHED = "passes-untouched"
    ORACLE_FAILS = "oracle-fails"
    ORACLE_TIMEOUT = "oracle-timeout"
    FLAKY = "flaky"
    HACK_PAYS = "hack-pays"
    STUB_PAYS = "stub-pays"
    WEAK_TESTS = "weak-tests"

    MULTI_CONTAINER = "multi-container"
    COMPOSE_KEYS = "compose-keys"
    COMPOSE_UNREADABLE = "compose-unreadable"
    MULTI_STEP = "multi-step"
    SIDECAR_ARTIFACTS = "sidecar-artifacts"
    WHOLE_FILESYSTEM = "whole-filesystem"
    ALLOWED_HOSTS = "allowed-hosts"
    HOST_VARIABLES = "host-variables"
    WINDOWS = "windows"
    GPU = "gpu"
    TPU = "tpu"
    MCP_SERVERS = "mcp-servers"
    HEALTHCHECK = "healthcheck"
    UNSUPPORTED_PARSER = "unsupported-parser"
    TESTS_IN_AGENT_SHELL = "tests-in-agent-shell"
    INTERACTIVE_SOLUTION = "interactive-solution"

    GONE = "gone"
    INTERNAL = "internal"


MEANINGS: dict[Reason, str] = {
    Reason.NO_IMAGE: "neither a Dockerfile nor `docker_image` says how to make the image",
    Reason.BAD_DOCKERFILE: "the Dockerfile cannot be parsed",
    Reason.BUILD_FAILED: "a step of the image build failed",
    Reason.BUILD_TIMEOUT: "the image build did not end within `build_timeout_sec`",
    Reason.BASE_UNAVAILABLE: "a base image is neither here nor in reach, and nothing stands in for it",
    Reason.NEEDS_NETWORK: "build, solution or tests failed for want of a network that they do not get here",
    Reason.UNSUPPORTED_TASK: "the task asks for something that no engine here gives; its code is in the message",
    Reason.COMPOSE_MISSING: "the task needs several containers, and docker has no compose plugin here",
    Reason.COMPOSE_REFUSED: "a container beside the agent's asks for something of the host that none gets",
    Reason.NO_SHELL: "the image has no `/bin/sh` that runs",
    Reason.COMPANION_FAILED: "a container beside the agent's does not run, or does not become healthy",
    Reason.REWARD_MISSING: "the tests ended without a reward file",
    Reason.REWARD_EMPTY: "the reward file is empty",
    Reason.REWARD_UNPARSABLE: "the reward file does not hold one number, or an object with one as `reward`",
    Reason.REWARD_NOT_FINITE: "the reward is NaN or infinite",
    Reason.REWARD_OUT_OF_RANGE: "the reward lies outside [0, 1]",
    Reason.REWARD_CONFLICT: "reward.txt and reward.json are both there and disagree",
    Reason.REWARD_NOT_A_FILE: "the place of the reward holds a link, a directory or another special file",
    Reason.REWARD_TOO_LARGE: "the reward file is too large to be a reward",
    Reason.VERIFIER_TIMEOUT: "the tests did not end within the verifier's `timeout_sec`",
    Reason.SOLUTION_IN_IMAGE: "the image, in which the agent works, holds the solution or part of it",
    Reason.TESTS_IN_IMAGE: "the image, in which the agent works, holds the tests",
    Reason.ANSWER_IN_IMAGE: "the image holds data that the tests expect, at a place that the task does not speak of",
    Reason.UNTOUCHED_SCORES: "the tests reward the environment in which nobody has done anything",
    Reason.PASSES_UNTOUCHED: "a test of a bundle of ours passes in the untouched environment and is no declared guard",
    Reason.ORACLE_FAILS: "the tests do not give the bundle's own solution the full reward",
    Reason.ORACLE_TIMEOUT: "the solution did not end within the agent's `timeout_sec`",
    Reason.FLAKY: "the same solution got different rewards in fresh sandboxes that should make no difference",
    Reason.HACK_PAYS: "a hack of the verifier gets a reward",
    Reason.STUB_PAYS: "outputs that only look like work get the full reward",
    Reason.WEAK_TESTS: "the tests do not notice pieces of the solution that are missing or different",
    Reason.MULTI_CONTAINER: "the separate verifier needs several containers",
    Reason.COMPOSE_KEYS: "the compose file asks for more than the agent's container gets",
    Reason.COMPOSE_UNREADABLE: "the task's compose file cannot be read",
    Reason.MULTI_STEP: "the task has several steps",
    Reason.SIDECAR_ARTIFACTS: "the separate verifier wants files of other containers than the agent's",
    Reason.WHOLE_FILESYSTEM: "the separate verifier wants the agent's whole filesystem",
    Reason.ALLOWED_HOSTS: "the network is to be limited to some hosts, which no engine here does",
    Reason.HOST_VARIABLES: "the task needs variables of the host that are not set",
    Reason.WINDOWS: "the task runs in containers of another system than Linux",
    Reason.GPU: "the task needs GPUs",
    Reason.TPU: "the task needs a TPU",
    Reason.MCP_SERVERS: "the task needs MCP servers for the agent",
    Reason.HEALTHCHECK: "the task waits for a health check before the agent starts",
    Reason.UNSUPPORTED_PARSER: "a Terminal-Bench task whose tests only the parser of its own benchmark understands",
    Reason.TESTS_IN_AGENT_SHELL: "a Terminal-Bench task whose tests run in the agent's own shell",
    Reason.INTERACTIVE_SOLUTION: "a Terminal-Bench task whose solution is typed into a terminal",
    Reason.GONE: "the directory was not there any more when its turn came",
    Reason.INTERNAL: "a defect of the verifier itself; please report it",
}
