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


def base_url(configured: str | None, environment: Mapping[str, str] | None = None, *, flag: str = "--base-url") -> str:
    """The address to use: the configured one, else that of the environment, else OpenAI's where there is a key.

    Raises:
        UserError: There is none, it is no http address, or it carries a password.
    """
    variables = os.environ if environment is None else environment
    if not (configured or variables.get(URL_VARIABLE) or variables.get(KEY_VARIABLE)):
        raise UserError("no model endpoint is named", fix=f"give {flag} URL, or set {URL_VARIABLE}")
    url = (configured or variables.get(URL_VARIABLE) or HOSTED).strip().rstrip("/")
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise UserError(
            "the base URL holds a user name or a password", fix=f"leave them out and set {KEY_VARIABLE} instead"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"{url!r} is no http address", fix=f"give {flag} http://HOST:PORT/v1")
    return url


def api_key(variable: str = KEY_VARIABLE, environment: Mapping[str, str] | None = None) -> str:
    """The key of the environment, or a word that says that there is none."""
    variables = os.environ if environment is None else environment
    return variables.get(variable) or NO_KEY
