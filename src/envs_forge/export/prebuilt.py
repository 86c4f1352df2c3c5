"""Names of images for an export whose readers pull them."""

from __future__ import annotations

import re

from envs_forge.bundle.model import Bundle, VerifierMode
from envs_forge.bundle.prebuilt import set_docker_image
from envs_forge.errors import UserError
from envs_forge.export.tasks import IndexLine

_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_PREFIX = re.compile(rf"{_PART}(?::[0-9]+)?(?:/{_PART})*")
_UNUSUAL = re.compile(r"[^a-z0-9]+")
HASH_CHARACTERS = 12


def check_prefix(prefix: str) -> str:
    """A registry and path that names can be put under, without a slash at its end.

    Raises:
        UserError: It is none.
    """
    wanted = prefix.rstrip("/")
    if _PREFIX.fullmatch(wanted) is None:
        raise UserError(
            f"{prefix!r} cannot begin the name of an image",
            fix="write it like registry.example:5000/team, in small letters",
        )
    return wanted


def with_image(bundle: Bundle, line: IndexLine, prefix: str) -> tuple[Bundle, IndexLine]:
    """An environment whose image is to be pulled: `<prefix>/<id>:<start of its content hash>`.

    One whose tests have an environment like the agent's, but apart from it, is left as it is: its verifier would pull
    the agent's image.
    """
    if bundle.config.verifier_mode is VerifierMode.SEPARATE and bundle.config.verifier_environment is None:
        return bundle, line
    name = _UNUSUAL.sub("-", bundle.id.lower()).strip("-")
    image = f"{prefix}/{name}:{line.content_hash[:HASH_CHARACTERS]}"
    return set_docker_image(bundle, image), line.model_copy(update={"image": image})
