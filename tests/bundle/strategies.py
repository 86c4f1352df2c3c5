"""Hypothesis strategies: file names as hostile as a filesystem allows, bundles of all shapes."""

from __future__ import annotations

from hypothesis import strategies as st

from envs_forge.bundle import Bundle, BundleFile, make_bundle

from .samples import TEXTS

_NAME_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="/\0")
names = st.one_of(
    st.text(_NAME_CHARACTERS, min_size=1, max_size=20),
    st.sampled_from(
        ["-rf", "--", "a b", " lead", "trail ", "new\nline", "tab\t", "ünï", "名前", "*", "$HOME", "`x`", "'"]
    ),
).filter(lambda name: name not in (".", "..") and len(name.encode()) <= 255)
regular = st.builds(BundleFile, data=st.binary(max_size=200), mode=st.integers(0o400, 0o777).map(lambda m: m | 0o400))


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    """A sound bundle with extra files, directories and links that stay inside."""
    files = {path: BundleFile(data=text.encode(), mode=0o644) for path, text in TEXTS.items()}
    extra = draw(st.lists(st.tuples(st.lists(names, min_size=1, max_size=3), regular), max_size=6))
    for parts, file in extra:
        path = "/".join(["environment", "data", *parts])
        taken = {p[:at] for p in files for at, sign in enumerate(p) if sign == "/"} | set(files)
        prefixes = {path[:at] for at, sign in enumerate(path) if sign == "/"}
        if path not in taken and not prefixes & set(files):
            files[path] = file
    for number, target in enumerate(draw(st.lists(st.sampled_from(sorted(files)), max_size=3))):
        files[f"environment/link {number}"] = BundleFile(target=f".././{target}", mode=0o777)
    return make_bundle(draw(st.sampled_from(["a", "task-1", "Ü b"])), files)
