"""Which faults are tried again, and when."""

from __future__ import annotations

import email.utils
import random
from collections.abc import Mapping
from datetime import UTC, datetime

from envs_forge.models.faults import EndpointError
from envs_forge.models.settings import EndpointSettings


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks us to wait: `retry-after-ms`, or Retry-After as seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def pause(error: EndpointError, tries: int, settings: EndpointSettings) -> float:
    """Seconds to wait after `tries` spoilt tries: doubled each time, jittered down to half, never below what was asked.

    Args:
        error: The last fault.
        tries: From 1.
        settings: How patient we are.
    """
    own = min(settings.pause_s * 2.0 ** min(tries - 1, 32), settings.pause_cap_s)
    return max(own * random.uniform(0.5, 1.0), error.retry_after_s or 0.0)


def worth_it(error: BaseException, settings: EndpointSettings) -> bool:
    """Whether another try may help, and may be made: a longer wait than we have patience for ends the request."""
    return isinstance(error, EndpointError) and error.transient and not _too_long(error, settings)


def name_the_wait(error: BaseException, settings: EndpointSettings) -> None:
    """Let a fault say so where it is for a longer wait than we have patience for that nobody tries again."""
    if isinstance(error, EndpointError) and _too_long(error, settings):
        cap = f"endpoint.retry_after_cap_s = {settings.retry_after_cap_s:g}"
        error.message += f"; the endpoint asks to wait {error.retry_after_s:.0f} s, more than {cap}"
        error.fix = "go on later, or raise it"


def _too_long(error: EndpointError, settings: EndpointSettings) -> bool:
    return error.retry_after_s is not None and error.retry_after_s > settings.retry_after_cap_s


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
