"""What a user types → a generator. Packages may add their own under the entry point group `envs_forge.generators`."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from envs_forge.config import WriterSettings
from envs_forge.errors import UserError
from envs_forge.synthesis.generator import Generator

GROUP = "envs_forge.generators"
BUNDLED = ("llm", "procedural")


def generator_names() -> tuple[str, ...]:
    """Every name that `make_generator` knows, sorted."""
    return tuple(sorted({*BUNDLED, *_plugins()}))


def make_generator(
    name: str,
    *,
    seed: int = 0,
    writer: WriterSettings | None = None,
) -> Generator:
    """Make the generator that `name` names.

    Args:
        name: A bundled generator, or the name of an entry point whose object is called with `seed=`.
        seed: Number that all of its choices start from.
        writer: The model of the generator `llm`.

    Raises:
        UserError: There is no such generator, or its package cannot be loaded or makes none.
    """
    if name == "procedural":
        from envs_forge.synthesis.procedural.generator import ProceduralGenerator

        return ProceduralGenerator(seed=seed)
    if name == "llm":
        from envs_forge.synthesis.llm.generator import LlmGenerator

        return LlmGenerator(writer or WriterSettings(), seed=seed)
    plugin = _plugins().get(name)
    if plugin is None:
        raise UserError(f"no generator {name!r}", fix=f"there is: {', '.join(generator_names())}")
    return _made(plugin, seed)


def _made(plugin: EntryPoint, seed: int) -> Generator:
    from envs_forge.synthesis.plugin import blamed, fault, held

    label = f"the generator {plugin.name!r} ({_origin(plugin)})"
    factory = blamed(label, "cannot be loaded", plugin.load)
    if not callable(factory):
        raise fault(label, f"cannot be made: what it names, of type {type(factory).__name__}, cannot be called")
    return held(blamed(label, "cannot be made", lambda: factory(seed=seed)), label)


def _origin(plugin: EntryPoint) -> str:
    """Distribution and version, where its metadata tells them, and the object."""
    try:
        known = [plugin.dist.name, plugin.dist.version] if plugin.dist is not None else []
    except Exception:  # Whatever somebody's damaged metadata leads to.
        known = []
    told = " ".join(str(part) for part in known if part)
    return f"{told}, {plugin.value}" if told else plugin.value


def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
