"""Containers beside the agent's get what is harmless, and nothing of the host's."""

from __future__ import annotations

from typing import Any

import pytest

from envs_forge.bundle.companions import RefusedError, companions_of
from envs_forge.bundle.compose import compose_finding, laid_over
from envs_forge.bundle.model import EnvironmentConfig


def test_what_is_kept() -> None:
    services = {
        "main": {"privileged": True},
        "db": {
            "image": "postgres:16",
            "environment": {"A": "$$x", "B": "${C:-d}"},
            "depends_on": {"cache": {"condition": "service_healthy"}, "main": {"condition": "service_started"}},
            "volumes": [
                "data:/var/lib/data",
                "/scratch",
                {"type": "volume", "target": "/more"},
                "${T_LOGS_PATH}:/logs",
            ],
            "ports": ["5432:5432"],
            "container_name": "x",
            "networks": ["a"],
        },
        "cache": {
            "build": {"context": "./box", "dockerfile": "Other"},
            "command": "serve",
            "depends_on": ["db", "main"],
        },
        "debug": {"image": "x", "profiles": ["debug"], "network_mode": "host"},
    }
    db, cache = companions_of(services)
    assert (db.name, db.image, db.context) == ("db", "postgres:16", None)
    assert db.settings == {
        "environment": {"A": "$$x", "B": "${C:-d}"},
        "volumes": ["/var/lib/data", "/scratch", "/more"],
        "depends_on": {"cache": {"condition": "service_healthy"}},
    }
    assert (cache.image, cache.context, cache.dockerfile) == (None, "box", "Other")
    assert cache.settings == {"command": "serve", "depends_on": {"db": {"condition": "service_started"}}}


@pytest.mark.parametrize(
    "service",
    [
        {"privileged": True},
        {"network_mode": "host"},
        {"pid": "host"},
        {"ipc": "host"},
        {"uts": "host"},
        {"userns_mode": "host"},
        {"cgroup_parent": "/x"},
        {"cap_add": ["SYS_ADMIN"]},
        {"devices": ["/dev/kvm"]},
        {"security_opt": ["seccomp:unconfined"]},
        {"runtime": "other"},
        {"sysctls": {"a": 1}},
        {"extra_hosts": ["a:host-gateway"]},
        {"env_file": "/etc/environment"},
        {"extends": {"file": "/x"}},
        {"secrets": ["a"]},
        {"configs": ["a"]},
        {"volumes_from": ["main"]},
        {"volumes": ["/:/host"]},
        {"volumes": ["./init.sql:/init.sql"]},
        {"volumes": ["~/x:/x"]},
        {"volumes": ["${HOME}:/x"]},
        {"volumes": [{"type": "bind", "source": "/", "target": "/x"}]},
        {"volumes": [{"source": "/", "target": "/x"}]},
        {"environment": {"KEY": "${API_KEY}"}},
        {"environment": ["KEY=$API_KEY"]},
        {"build": "../other"},
        {"build": {"context": ".", "args": {"A": "1"}}},
        {"build": "https://example.org/x.git"},
        {"image": "${IMAGE}"},
        {"image": None},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_refused(service: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match=r"^db "):
        companions_of({"main": {}, "db": {"image": "x", **service}})


def test_a_volume_that_several_share_is_refused() -> None:
    with pytest.raises(RefusedError, match="share the volume data"):
        companions_of({"a": {"image": "x", "volumes": ["data:/a"]}, "b": {"image": "x", "volumes": ["data:/b"]}})


def test_what_the_file_says_of_the_agents_container() -> None:
    text = (
        "services:\n  main:\n    image: a:1\n    working_dir: /w\n    environment: [A=1, B]\n    network_mode: none\n"
    )
    environment = laid_over(text.encode(), EnvironmentConfig(env={"A": "0", "C": "2"}))
    assert (environment.docker_image, environment.workdir, environment.network) == ("a:1", "/w", False)
    assert environment.env == {"A": "1", "C": "2"}
    assert compose_finding("x", text.encode()) is None
    finding = compose_finding("x", b"services: {db: {image: a}}")
    assert finding is not None
    assert finding.code == "multi-container"
