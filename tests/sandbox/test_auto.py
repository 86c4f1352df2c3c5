import pytest

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.sandbox import auto
from envs_forge.sandbox.auto import RoutedEngine, make_engine


class Fake:
    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = 0

    def create(self, base: object, spec: object) -> str:
        return self.name

    def reap(self) -> int:
        return 1

    def close(self) -> None:
        self.closed += 1


def unavailable() -> Fake:
    raise PrerequisiteError("no runc", fix="apt install runc")


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> list[Fake]:
    made = [Fake("oci"), Fake("docker")]
    monkeypatch.setattr(auto, "_oci", lambda: made[0])
    monkeypatch.setattr(auto, "_docker", lambda: made[1])
    return made


@pytest.mark.parametrize(("name", "chosen"), [("auto", "oci"), ("oci", "oci"), ("docker", "docker")])
def test_what_is_asked_for_is_taken(fakes: list[Fake], name: str, chosen: str) -> None:
    assert make_engine(name).name == chosen


def test_auto_falls_back_and_oci_says_why_not(fakes: list[Fake], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "_oci", unavailable)
    assert make_engine("auto").name == "docker"
    with pytest.raises(PrerequisiteError, match="apt install runc"):
        make_engine("oci")


def test_an_unknown_name_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match="auto, oci, docker"):
        make_engine("podman")


def test_only_what_wants_a_network_goes_to_the_other_engine(fakes: list[Fake]) -> None:
    asked = []
    routed = RoutedEngine(fakes[0], lambda: asked.append(1) or fakes[1])  # type: ignore[arg-type, func-returns-value]
    assert routed.engine_for(False).name == "oci"
    assert not asked
    assert [routed.engine_for(True).name for _ in range(2)] == ["docker", "docker"]
    assert len(asked) == 1
    routed.close()
    assert [fake.closed for fake in fakes] == [1, 1]
