"""Address and key of an endpoint. A key comes from the environment and is nowhere written down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from envs_forge.errors import UserError

KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
HOSTED = "https://api.openai.com/v1"
NO_KEY = "none"
"""What is sent where no key is set: endpoints of one's own ask for none."""
_KEYS = f"a key belongs into the environment, as {KEY_VARIABLE} or what `key_variable` names"


def base_url(configured: str | None, environment: Mapping[str, str] | None = None, *, flag: str = "--base-url") -> str:
    """The address to use: the configured one, else that of the environment, else OpenAI's where there is a key.

    Raises:
        UserError: There is none, or it cannot be used; see `fault_of_url`.
    """
    variables = os.environ if environment is None else environment
    if not (configured or variables.get(URL_VARIABLE) or variables.get(KEY_VARIABLE)):
        raise UserError("no model endpoint is named", fix=f"give {flag} URL, or set {URL_VARIABLE}")
    url = (configured or variables.get(URL_VARIABLE) or HOSTED).strip().rstrip("/")
    fault = fault_of_url(url)
    if fault is not None:
        message, fix = fault
        form = f"{flag} " if configured else f"{URL_VARIABLE}="
        raise UserError(message, fix=f"{fix}, as in {form}http://HOST:PORT/v1")
    return url


def fault_of_url(url: str) -> tuple[str, str] | None:
    """What is wrong with an address, and what to do about it; what may be a secret is not in the words.

    Paths are added to the address, so nothing can come after its own; and it is stored, so no key can be in it.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return _no_address(url)
    if parts.username is not None or parts.password is not None:
        return "the base URL holds a user name or a password", f"leave them out, {_KEYS}"
    if "?" in url or "#" in url:
        return "the base URL holds something after `?` or `#`", f"leave it out, {_KEYS}"
    if not usable or any(sign.isspace() or not sign.isprintable() for sign in url):
        return _no_address(url)
    return None


def may_hold_secret(url: str) -> bool:
    """Whether an address has what a password or a key would stand beside."""
    return any(sign in url for sign in "@?#")


def _no_address(url: str) -> tuple[str, str]:
    shown = "the base URL" if may_hold_secret(url) else repr(url)
    return f"{shown} is no http address", "give another one"


def api_key(variable: str = KEY_VARIABLE, environment: Mapping[str, str] | None = None) -> str:
    """The key of the environment, or a word that says that there is none.

    Raises:
        UserError: It cannot be sent; the message names the variable and not the value.
    """
    variables = os.environ if environment is None else environment
    key = variables.get(variable) or NO_KEY
    if key.endswith(("\n", "\r")) and not _unfit(key.rstrip("\r\n")):
        raise UserError(f"{variable} ends with a line break", fix=f"set {variable} to the key and nothing else")
    if _unfit(key):
        raise UserError(
            f"{variable} is no key: it holds blanks, line breaks, control characters or characters beyond ASCII",
            fix=f"set {variable} to the key and nothing else, without quotes around it",
        )
    return key


def _unfit(key: str) -> bool:
    return not all("!" <= sign <= "~" for sign in key)
