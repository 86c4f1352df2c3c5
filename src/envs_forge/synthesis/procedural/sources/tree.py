"""Trees of small text files.

Features: `spaces` (names with spaces), `hidden` (dot files), `upper` (names with capitals), `nested` (deeper folders),
`links` (symbolic links), `executable` (run bits), `empty` (empty files), `twins` (files of equal content), `modes`
(modes count from the start, so the image sets them: a checkout does not keep them).
"""

from __future__ import annotations

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.values.tree import Tree

ENDINGS = ("txt", "log", "md", "conf", "csv")


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Tree:
    """About `count` files in two or three folders."""
    words = dice.shuffled(vocabulary.words)
    folders = ["", f"{words[0]}/", f"{words[1]}/", *([f"{words[0]}/{words[2]}/"] if "nested" in features else [])]
    endings = dice.sample(ENDINGS, 3)
    entries: dict[str, BundleFile] = {}
    for i in range(count):
        name = _name(dice, words, features)
        folder = folders[i % len(folders)]
        path = f"{folder}{name}.{dice.pick(endings)}"
        entries.setdefault(path, _file(dice, vocabulary, list(entries.values()), features))
    if "links" in features:
        entries |= _links(dice, entries)
    return Tree({path: entries[path] for path in sorted(entries)}, modes="modes" in features)


def _name(dice: Dice, words: list[str], features: frozenset[str]) -> str:
    gap = " " if "spaces" in features and dice.chance(0.4) else "-"
    name = f"{dice.pick(words)}{gap}{dice.between(1, 40)}"
    if "upper" in features and dice.chance(0.4):
        name = dice.pick((name.upper(), name.capitalize()))
    return f".{name}" if "hidden" in features and dice.chance(0.3) else name


def _file(dice: Dice, vocabulary: Vocabulary, earlier: list[BundleFile], features: frozenset[str]) -> BundleFile:
    if "twins" in features and earlier and dice.chance(0.4):
        return dice.pick([file for file in earlier if file.target is None])
    if "empty" in features and dice.chance(0.2):
        return BundleFile()
    lines = [f"{dice.pick(vocabulary.words)} {dice.between(10, 9999)}" for _ in range(dice.between(1, 3))]
    mode = 0o755 if "executable" in features and dice.chance(0.4) else 0o644
    return BundleFile(data="".join(f"{line}\n" for line in lines).encode(), mode=mode)


def _links(dice: Dice, entries: dict[str, BundleFile]) -> dict[str, BundleFile]:
    top = [path for path in sorted(entries) if "/" not in path]
    picked = dice.sample(top, 2)
    return {f"latest-{i}.{path.rsplit('.', 1)[1]}": BundleFile(target=path) for i, path in enumerate(picked, 1)}
