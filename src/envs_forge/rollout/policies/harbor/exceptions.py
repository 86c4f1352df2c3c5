"""The exceptions by which Harbor says how a trial ended, as our kinds of failure. Names only: nothing is imported."""

from __future__ import annotations

from envs_forge.rollout.policy import StopReason
from envs_forge.sandbox.verification import RewardFault

# fmt: off
ENDPOINT = frozenset({
    "APIConnectionError", "APIError", "AgentAuthenticationError", "ApiConnectionClosedError", "ApiConnectionError",
    "ApiError", "ApiInternalServerError", "ApiOverloadedError", "ApiProviderResourceNotFoundError",
    "ApiRateLimitError", "ApiResponseStalledError", "ApiUsageLimitError", "AuthenticationError",
    "BudgetExceededError", "InternalServerError", "MissingModelCredentialError", "ModelNotFoundError",
    "NetworkConnectionError", "NotFoundError", "PermissionDeniedError", "RateLimitError",
    "ServiceUnavailableError", "Timeout", "UnknownApiError",
})
"""A model endpoint's fault, or that of the key or the model's name that it was given."""
MACHINE = frozenset({
    "AddTestsDirError", "AgentSetupTimeoutError", "CancelledError", "DownloadVerifierDirError",
    "EnvironmentStartTimeoutError", "GKEExecStreamClosedError", "GKEPodNotFoundError", "HealthcheckError",
    "MemoryLimitExceededError", "RuntimeRequestError", "SSHAccessError", "SandboxBuildFailedError",
    "SandboxLikelyOutOfMemoryError",
})
"""The environment's fault."""
# fmt: on
VERIFIER = {
    "VerifierTimeoutError": RewardFault.TIMEOUT,
    "RewardFileNotFoundError": RewardFault.MISSING,
    "RewardFileEmptyError": RewardFault.EMPTY,
    "VerifierOutputParseError": RewardFault.UNPARSABLE,
}
"""The tests gave no proper reward."""
STOPPED = {
    "AgentTimeoutError": StopReason.TIMEOUT,
    "ContextWindowExceededError": StopReason.CONTEXT,
    "ContextLengthExceededError": StopReason.CONTEXT,
    "OutputTokenExceededError": StopReason.LIMIT,
    "OutputLengthExceededError": StopReason.LIMIT,
    "AgentSafetyRefusalError": StopReason.GAVE_UP,
    "ContentPolicyViolationError": StopReason.GAVE_UP,
    "NonZeroAgentExitCodeError": StopReason.ERROR,
    "BadRequestError": StopReason.ERROR,
    "UnprocessableEntityError": StopReason.ERROR,
    "UnsupportedModelParametersError": StopReason.ERROR,
    "UnsupportedParamsError": StopReason.ERROR,
}
"""The agent's own end; the tests judge what it left, but for `ERROR`."""
