import pytest

from envs_forge.sandbox.network import shows_no_network


@pytest.mark.parametrize(
    "text",
    [
        "curl: (6) Could not resolve host: example.org",
        "E: Failed to fetch ...  Temporary failure resolving 'packages.example.org'",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "socket.gaierror: [Errno -2] Name or service not known",
        "wget: bad address 'example.org'",
        "ping: connect: Network is unreachable",
        "npm ERR! getaddrinfo EAI_AGAIN registry.npmjs.org",
        "error: dns error: failed to lookup address information: Name or service not known",
    ],
)
def test_the_usual_ways_to_say_it(text: str) -> None:
    assert shows_no_network(text)


@pytest.mark.parametrize("text", ["", "AssertionError: 3 != 4", "Connection refused", "timeout: sending signal TERM"])
def test_other_failures_are_not_taken_for_it(text: str) -> None:
    assert not shows_no_network(text)
