"""Check what the task asked for. Exit status 0 when every check passes."""

import json
import os
import sys
import time

sys.stdout.reconfigure(errors="backslashreplace")


def read_tree(path, modes=False):
    """Files and links below a directory: name and digest (and mode), or name and target."""
    import hashlib

    if not os.path.isdir(path):
        raise FileNotFoundError(path)
    found = []
    for folder, directories, files in os.walk(path):
        for name in files + [d for d in directories if os.path.islink(os.path.join(folder, d))]:
            full = os.path.join(folder, name)
            short = os.path.relpath(full, path)
            if os.path.islink(full):
                found.append((short, f"{short} -> {os.readlink(full)}"))
                continue
            with open(full, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()[:12]
            mode = f" {os.stat(full).st_mode & 0o7777:o}" if modes else ""
            found.append((short, f"{short} {digest}{mode}"))
    return [line for _, line in sorted(found)]


def main():
    """Run the checks of expected.json and leave one result for each."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "expected.json"), encoding="utf-8") as file:
        checks = json.load(file)
    started = int(time.time() * 1000)
    answers = {}
    results = []
    for check in checks:
        fault = run(check, answers)
        print(("PASS " if not fault else "FAIL ") + check["name"] + (": " + fault if fault else ""))
        results.append({"name": check["name"], "status": "failed" if fault else "passed", "duration": 0, "message": fault})
    failed = sum(r["status"] == "failed" for r in results)
    summary = {"tests": len(results), "passed": len(results) - failed, "failed": failed, "pending": 0, "skipped": 0}
    summary.update(other=0, start=started, stop=int(time.time() * 1000))
    report = {"results": {"tool": {"name": "check.py"}, "summary": summary, "tests": results}}
    with open("/logs/verifier/ctrf.json", "w", encoding="utf-8") as file:
        json.dump(report, file)
    return 1 if failed else 0


def run(check, answers):
    """Why the check fails, or an empty string."""
    path = check["path"]
    try:
        if path not in answers:
            answers[path] = globals()["read_" + check["reader"]](path, **check.get("with", {}))
        found = answers[path]
    except Exception as error:
        return f"cannot read {path}: {type(error).__name__}: {error}"
    for line in check.get("has", []):
        if found.count(line) != check["has"].count(line):
            return f"expected {check['has'].count(line)} x {line!r}, found {found.count(line)}"
    for line in check.get("lacks", []):
        if line in found:
            return f"{line!r} must not be there"
    if "first" in check and not (check["first"] in found and check["then"] in found):
        return f"{check['first']!r} or {check['then']!r} is missing"
    if "first" in check and found.index(check["first"]) > found.index(check["then"]):
        return f"{check['first']!r} must come before {check['then']!r}"
    return differ(check["lines"], found) if "lines" in check else ""


def differ(wanted, found):
    """The first difference of two lists of lines, or an empty string."""
    for number, (a, b) in enumerate(zip(wanted, found), 1):
        if a != b:
            return f"entry {number}: expected {a!r}, found {b!r}"
    return "" if len(wanted) == len(found) else f"expected {len(wanted)} entries, found {len(found)}"


if __name__ == "__main__":
    sys.exit(main())
