"""Where a bundle comes from, kept in `[metadata.envs_forge]` of its `task.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envs_forge.bundle.config import FILE, parse_config, toml_table
from envs_forge.bundle.finding import BundleError, errors_of
from envs_forge.bundle.model import Bundle
from envs_forge.errors import InvariantError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

TABLE = "envs_forge"


def set_provenance(bundle: Bundle, table: Mapping[str, Any]) -> Bundle:
    """The same bundle with `table` as its provenance, in the place of an earlier one.

    Everything else of `task.toml` stays byte for byte: unknown keys, comments, layout, line ends. The content
    hash does not change.

    Args:
        bundle: A bundle with a readable `task.toml`.
        table: TOML values; None and keys with None are left out, tuples become arrays.

    Raises:
        BundleError: The file would not be readable afterwards.
    """
    import tomlkit

    old = bundle.files[FILE].data
    document = tomlkit.parse(old.decode())
    _put(document, table)
    data = tomlkit.dumps(document).encode()
    expected = toml_table(old)
    expected.setdefault("metadata", {})[TABLE] = _plain(table)
    if toml_table(data) != expected:
        raise InvariantError(f"{bundle.id}: task.toml would have lost or changed a key when provenance was set")
    config, findings = parse_config(data)
    if config is None:
        raise BundleError(bundle.id, errors_of(findings))
    file = bundle.files[FILE].model_copy(update={"data": data})
    return bundle.model_copy(update={"files": {**bundle.files, FILE: file}, "config": config})


def _put(document: TOMLDocument, table: Mapping[str, Any]) -> None:
    import tomlkit
    from tomlkit.items import InlineTable

    metadata = document.get("metadata")
    if isinstance(metadata, InlineTable):
        metadata[TABLE] = _item(_plain(table))
        return
    section = tomlkit.table()
    for key, value in _plain(table).items():
        section.add(key, _item(value))
    if metadata is None:
        if document.as_string():
            document.add(tomlkit.nl())
        document["metadata"] = tomlkit.table(is_super_table=True).append(TABLE, section)
        return
    section.add(tomlkit.nl())
    metadata[TABLE] = section


def _item(value: Any) -> Any:
    """A TOML value that stands on its own line or lines; tables inside of it are inline."""
    import tomlkit

    if isinstance(value, Mapping):
        inline = tomlkit.inline_table()
        for key, item in value.items():
            inline.add(key, _item(item))
        return inline
    if isinstance(value, list):
        array = tomlkit.array().multiline(any(isinstance(item, Mapping) for item in value))
        for item in value:
            array.append(_item(item))
        return array
    return tomlkit.item(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value if item is not None]
    return value
