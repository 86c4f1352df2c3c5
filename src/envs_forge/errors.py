"""The typed errors of the whole package.

Three kinds never mix: a user's mistake (`UserError`, exit 2, one line and the fix), a fault of the machine
(`InfrastructureError`, retried and recorded, never a reward) and a broken promise of our own code
(`InvariantError`, always a defect to report). A fault of a bundle is not an exception at all but data: a
finding or a verdict with a reason code.
"""


class ForgeError(Exception):
    """Base of every error that Envs-FORGE raises on purpose.

    Args:
        message: What is wrong, in one line.
        fix: What the reader can do about it, in one line; shown after the message.
    """

    exit_code = 1

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} ({self.fix})" if self.fix else self.message


class UserError(ForgeError):
    """The input or the command is wrong; nothing was started."""

    exit_code = 2


class PrerequisiteError(UserError):
    """Something that must be installed or running is not."""


class InfrastructureError(ForgeError):
    """The machine failed, not the policy and not the bundle. Retried, recorded, never a reward of 0.

    Args:
        message: What failed, in one line.
        code: Stable machine-readable kind, e.g. `engine`, `disk-full`, `timeout`.
        fix: What the reader can do about it.
    """

    def __init__(self, message: str, *, code: str = "machine", fix: str | None = None) -> None:
        super().__init__(message, fix=fix)
        self.code = code


class EngineError(InfrastructureError):
    """A container engine refused, died or answered nonsense."""

    def __init__(self, message: str, *, code: str = "engine", fix: str | None = None) -> None:
        super().__init__(message, code=code, fix=fix)


class DiskFullError(InfrastructureError):
    """The host's disk (not a sandbox's capped one) has no room left. The reader's to mend, hence exit 2."""

    exit_code = 2

    def __init__(self, message: str, *, fix: str | None = "free some space") -> None:
        super().__init__(message, code="disk-full", fix=fix)


class InvariantError(ForgeError):
    """Our own code broke a promise: a plan that fails its re-score, a total that is not the sum of its parts."""
