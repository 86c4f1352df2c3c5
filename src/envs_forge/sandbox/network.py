"""Recognises the ways in which programs say that they have no network."""

from __future__ import annotations

import re

SIGNS = re.compile(
    r"could not resolve (?:host|hostname|proxy)"
    r"|temporary failure (?:in name resolution|resolving)"
    r"|name or service not known"
    r"|no address associated with hostname"
    r"|nodename nor servname provided"
    r"|failed to lookup address information"
    r"|unable to resolve host address"
    r"|bad address '"
    r"|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)"
    r"|network is unreachable"
    r"|no route to host"
    r"|failed to establish a new connection"
    r"|dial tcp: lookup"
    r"|no such host",
    re.IGNORECASE,
)


def shows_no_network(text: str) -> bool:
    """Whether `text`, the output of a command, shows a failure for want of a network.

    A hint, not proof: the text comes from hostile programs. It may turn a rejection into `unsupported`, never into
    anything better.
    """
    return SIGNS.search(text) is not None
