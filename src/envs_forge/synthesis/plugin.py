"""Generators of other packages, held to the contract: what one does wrong is said in one line that names it.

The calls run in threads of their own, so that one that hangs does not hold a command that is to end.
"""

from __future__ import annotations

import errno
import json
import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from envs_forge.bundle.model import Bundle
from envs_forge.errors import ForgeError, InvariantError, UserError
from envs_forge.models.abandonable import Abandonable
from envs_forge.models.faults import cancelled
from envs_forge.plan.model import ACTIONS, CandidateSkills
from envs_forge.synthesis.desk import Desk, Paying
from envs_forge.synthesis.generator import Assignment, Candidate, Feedback, Generator, Rejection, Repairing

T = TypeVar("T")
log = logging.getLogger(__name__)
PATIENCE_S = 10.0
"""So long calls under way may take to end once a run is to stop."""
_MOST_TOKENS = 10**12
_SHOWN = 300
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class PlugIn:
    """A generator of another package. Implements `Generator`.

    Args:
        inner: What the package made.
        label: What it is called in messages.

    Raises:
        UserError: It is no generator.
    """

    def __init__(self, inner: Any, label: str) -> None:
        self._inner, self.label = inner, label
        self._calls = Abandonable(cancelled)
        self._ended = threading.Condition()
        self._under_way = 0
        self.left_behind = ""
        """What did not stop though it was told to, in words."""
        self.name: str = blamed(label, "gives no name", lambda: inner.name)
        if not isinstance(self.name, str) or not self.name:
            raise fault(label, f"has {_shown(self.name)} for a name")
        self.identity: Mapping[str, Any] = blamed(label, "gives no identity", lambda: _as_json(inner))

    def options(self, bundle: Bundle) -> Mapping[str, CandidateSkills | str]:
        """See `Generator.options`.

        Raises:
            UserError: It failed, or gives something else.
        """
        found = blamed(self.label, "failed in options()", lambda: self._inner.options(bundle))
        if not isinstance(found, Mapping):
            raise fault(self.label, f"gives {_shown(found)} for its options, which is no mapping")
        options = {str(action): value for action, value in found.items()}
        wanted = {str(action) for action in ACTIONS}
        for odd in sorted(options.keys() - wanted):
            raise fault(self.label, f"gives an option {odd!r}, which is none of the six actions")
        for missing in sorted(wanted - options.keys()):
            raise fault(self.label, f"gives no option for {missing}: neither skills nor a reason")
        for action, value in options.items():
            if not isinstance(value, CandidateSkills | str):
                raise fault(self.label, f"gives {_shown(value)} for the option {action}, neither skills nor a reason")
        return options

    def generate(self, assignment: Assignment, parent: Bundle) -> Candidate | Rejection:
        """See `Generator.generate`.

        Raises:
            UserError: It failed, or gives something else.
            InfrastructureError: It says so, or it was abandoned.
        """
        return self._answer("generate()", lambda: self._inner.generate(assignment, parent))

    def abandon(self) -> None:
        """Wait for calls under way, but not for ever; then nobody waits for them any more. Callable from any thread."""
        with self._ended:
            if not self._ended.wait_for(lambda: not self._under_way, 0.0 if self._calls.over else PATIENCE_S):
                self.left_behind = f"{self.label} did not stop within {PATIENCE_S:g} s"
        self._calls.cancel()

    def _answer(self, what: str, step: Callable[[], Any]) -> Candidate | Rejection:
        answer = self._call(what, step)
        if not isinstance(answer, Candidate | Rejection):
            raise fault(self.label, f"gives {_shown(answer)} in {what}, neither a Candidate nor a Rejection")
        for tokens in (answer.prompt_tokens, answer.completion_tokens):
            if tokens is not None and not (isinstance(tokens, int) and 0 <= tokens <= _MOST_TOKENS):
                raise fault(self.label, f"gives {_shown(tokens)} for a number of tokens in {what}")
        if isinstance(answer, Rejection) and not answer.code:
            raise fault(self.label, f"gives a Rejection without a code in {what}")
        return answer

    def _call(self, what: str, step: Callable[[], T]) -> T:
        def counted() -> T:
            with self._ended:
                self._under_way += 1
            try:
                return blamed(self.label, f"failed in {what}", step)
            finally:
                with self._ended:
                    self._under_way -= 1
                    self._ended.notify_all()

        return self._calls.call(counted, threading.TIMEOUT_MAX)


class _Repairing(PlugIn):
    def repair(self, assignment: Assignment, parent: Bundle, feedback: Feedback) -> Candidate | Rejection:
        """See `Repairing.repair`."""
        return self._answer("repair()", lambda: self._inner.repair(assignment, parent, feedback))


class _Paying(PlugIn):
    def attach(self, desk: Desk) -> None:
        """See `Paying.attach`."""
        blamed(self.label, "failed in attach()", lambda: self._inner.attach(desk))

    def cancel(self) -> None:
        """See `Paying.cancel`. What it raises, and whether it ends, is all the same: the rest must be cleaned up."""

        def cancel() -> None:
            try:
                self._inner.cancel()
            except BaseException as error:
                log.info("%s failed in cancel(): %s", self.label, error, exc_info=error)

        thread = threading.Thread(target=cancel, daemon=True)
        thread.start()
        thread.join(PATIENCE_S)


class _PayingRepairing(_Repairing, _Paying):
    pass


_KINDS: Mapping[tuple[bool, bool], type[PlugIn]] = {
    (False, False): PlugIn,
    (True, False): _Repairing,
    (False, True): _Paying,
    (True, True): _PayingRepairing,
}


def held(inner: Any, label: str) -> Generator:
    """What a package made, behind the contract: `Repairing` and `Paying` where it is.

    Raises:
        UserError: It is no generator.
    """
    lacking = blamed(label, "cannot be looked at", lambda: [m for m in ("options", "generate") if not _has(inner, m)])
    if lacking:
        raise fault(label, f"is no generator: {_shown(inner)} has no {lacking[0]}()")
    return _KINDS[isinstance(inner, Repairing), isinstance(inner, Paying)](inner, label)


def blamed(label: str, what: str, step: Callable[[], T]) -> T:
    """Take a step in the code of another package; what goes wrong there is its fault.

    Args:
        label: Who is to blame.
        what: What it failed in, as the message says it.
        step: The step.

    Raises:
        UserError: It failed.
        ForgeError: It says in our terms what is wrong.
    """
    try:
        return step()
    except (Exception, SystemExit) as error:
        ours = isinstance(error, ForgeError) and not isinstance(error, InvariantError)
        if ours or (isinstance(error, OSError) and error.errno in _NO_SPACE):
            raise
        log.info("%s %s", label, what, exc_info=error)
        raise fault(label, f"{what}: {_told(error)}") from error


def fault(label: str, what: str) -> UserError:
    """The error of a reader whose package does not do what it must."""
    return UserError(f"{label} {what}", fix="tell its authors, or choose another --generator")


def _told(error: BaseException) -> str:
    text = str(error)
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False)
        text = f"{error.title}: " + "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text[:_SHOWN]}{place}"


def _shown(value: object) -> str:
    """A value for people: itself where it is short and plain, else its type."""
    plain = value is None or isinstance(value, bool | int | float | str)
    text = repr(value) if plain else ""
    return text if text and len(text) <= 40 else f"a {type(value).__name__}"


def _has(inner: Any, method: str) -> bool:
    return callable(getattr(inner, method, None))


def _as_json(inner: Any) -> Mapping[str, Any]:
    """What decides its outcome beside the config, as the lock of a run holds it."""
    return dict(json.loads(json.dumps(dict(getattr(inner, "identity", {})))))
