"""Sound bundles spoilt on purpose, each in one way. None where a bundle cannot be spoilt that way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle

Fault = Callable[[Bundle, Bundle], Bundle | None]
"""Parent and sound child in, spoilt child out."""

_TICKED = re.compile(r"`([\w-]{3,40})`")
_OUTPUT = re.compile(r"/app/[\w/-]+/[\w.-]+")


def text(bundle: Bundle, path: str) -> str:
    return bundle.files[path].data.decode()


def with_files(bundle: Bundle, texts: Mapping[str, str]) -> Bundle:
    files = dict(bundle.files)
    for path, new in texts.items():
        files[path] = files.get(path, BundleFile()).model_copy(update={"data": new.encode()})
    return make_bundle(bundle.id, files)


def instruction_only(parent: Bundle, child: Bundle) -> Bundle:
    """The seed with a new instruction."""
    return with_files(parent, {"instruction.md": text(child, "instruction.md")})


def near_copy(parent: Bundle, child: Bundle) -> Bundle:
    """The seed with a trifle changed in every part."""
    texts = {"instruction.md": text(parent, "instruction.md") + "\nPlease be careful.\n"}
    texts["solution/solve.sh"] = text(parent, "solution/solve.sh") + "\ntrue\n"
    texts["environment/Dockerfile"] = text(parent, "environment/Dockerfile") + "ENV NOTE=1\n"
    texts["environment/data/note.txt"] = "nothing\n"
    texts["tests/test.sh"] = text(parent, "tests/test.sh").replace("exit 0", "ls /app\nexit 0")
    return with_files(parent, texts)


def renamed(parent: Bundle, child: Bundle) -> Bundle | None:
    """The seed under other names, all through."""
    words = re.findall(r"[A-Za-z]{4,}", " ".join(_OUTPUT.findall(parent.instruction)))
    names = {word: f"{word[::-1].lower()}x" for word in dict.fromkeys(words) if word not in ("json", "tar", "sqlite")}
    if not names:
        return None
    files = {}
    for path, file in parent.files.items():
        if path != "task.toml" and file.target is None and b"\0" not in file.data:
            changed = _replaced(file.data.decode(), names)
            new_path = _replaced(path, names) if path.startswith("environment/data/") else path
            files[new_path] = file.model_copy(update={"data": changed.encode()})
        else:
            files[path] = file
    return make_bundle(parent.id, files)


def oracle_told(parent: Bundle, child: Bundle) -> Bundle | None:
    """A child whose instruction shows the solution."""
    lines = [line for line in text(child, "solution/solve.sh").split("\n")[3:] if line.strip()]
    told = "\n".join(lines)
    return with_files(child, {"instruction.md": f"{text(child, 'instruction.md')}\nFor example:\n\n```\n{told}\n```\n"})


def answer_told(parent: Bundle, child: Bundle) -> Bundle | None:
    """A child whose instruction shows a line of the result, no header, that is not given anywhere."""
    given = "\n".join(f.data.decode("utf-8", "replace") for p, f in child.files.items() if p.startswith("environment/"))
    for check in json.loads(text(child, "tests/expected.json")):
        for line in check.get("lines", []):
            told = len(re.findall(r"\w+", line)) > 2 and not line.startswith("/") and re.search(r"\d", line)
            if len(line) > 14 and line not in given and told:
                return with_files(child, {"instruction.md": f"{text(child, 'instruction.md')}\nThat gives `{line}`.\n"})
    return None


def path_unsaid(parent: Bundle, child: Bundle) -> Bundle | None:
    """A child whose tests and solution agree on another result file than the instruction names."""
    paths = [check["path"] for check in json.loads(text(child, "tests/expected.json"))]
    path = paths[-1]
    name = path.rsplit("/", 1)[-1]
    stem = "hidden-" + name
    if text(child, "solution/solve.sh").count(path) == 0:
        return None
    new = path.removesuffix(name) + stem
    files = ("solution/solve.sh", "tests/expected.json")
    return with_files(child, {file: text(child, file).replace(path, new) for file in files})


def value_mismatch(parent: Bundle, child: Bundle) -> Bundle | None:
    """A child whose instruction names another label or number than solution and tests use."""
    said, oracle = text(child, "instruction.md"), text(child, "solution/solve.sh")
    for old in dict.fromkeys(_TICKED.findall(said)):
        new = _neighbour(child, old, said + oracle)
        if re.search(rf"['\"]{re.escape(old)}['\"]", oracle) and said.count(f"`{old}`") == said.count(old) and new:
            return with_files(child, {"instruction.md": said.replace(f"`{old}`", f"`{new}`")})
    for number in re.findall(r"(?<=the )\d+(?= (?:rows|records|entries|lines))", said):
        if int(number) > 2 and re.search(rf"(?<!\w){number}(?!\w)", oracle):
            other = str(int(number) + 13)
            new = re.sub(rf"the {number} (?=rows|records|entries|lines)", f"the {other} ", said)
            return with_files(child, {"instruction.md": new})
    return None


def network_on(parent: Bundle, child: Bundle) -> Bundle:
    """A child that wants a network."""
    return with_files(child, {"task.toml": text(child, "task.toml").replace('"no-network"', '"public"')})


def oracle_fails(parent: Bundle, child: Bundle) -> Bundle:
    """A child whose solution spoils its own result at the end."""
    path = json.loads(text(child, "tests/expected.json"))[-1]["path"]
    return with_files(child, {"solution/solve.sh": f"{text(child, 'solution/solve.sh')}\nrm -rf {path}\n"})


def untouched_passes(parent: Bundle, child: Bundle) -> Bundle:
    """A child whose tests look at nothing that the agent does."""
    lenient = text(child, "tests/check.py").replace("fault = run(check, answers)", 'fault = ""')
    return with_files(child, {"tests/check.py": lenient})


def tests_disagree(parent: Bundle, child: Bundle) -> Bundle | None:
    """A child whose tests expect another result than instruction and solution give."""
    checks = json.loads(text(child, "tests/expected.json"))
    for check in checks:
        if check.get("lines"):
            check["lines"] = [*check["lines"], "one more"]
    rows = ",\n".join(json.dumps(check, ensure_ascii=False) for check in checks)
    return with_files(child, {"tests/expected.json": f"[\n{rows}\n]\n"})


def _replaced(old: str, names: Mapping[str, str]) -> str:
    pattern = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.sub(rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z])", lambda match: names[match[0]], old)


def _neighbour(bundle: Bundle, value: str, known: str) -> str | None:
    """Another value of the same column of a CSV file."""
    for path, file in sorted(bundle.files.items()):
        if path.startswith("environment/") and path.endswith(".csv"):
            rows = [line.split(",") for line in file.data.decode().split("\n")]
            for place in {row.index(value) for row in rows if value in row}:
                others = sorted({row[place] for row in rows if len(row) > place})
                for other in others:
                    if re.fullmatch(r"[\w-]{3,40}", other) and other not in known and not other.isdigit():
                        return other
    return None
