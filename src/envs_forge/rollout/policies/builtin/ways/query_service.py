"""Start a local service, ask it for its records and write these as CSV."""

from __future__ import annotations

import re
import shlex

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.csv_out import HEADLESS, NULLS, SLIPS, rows_of
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

URL = re.compile(r"http://127\.0\.0\.1:(\d{2,5})/\S+")
START = """\
work=$(mktemp -d)
python3 {program} >/dev/null 2>&1 & server=$!
trap 'kill $server; rm -rf "$work"' EXIT
for i in $(seq 300); do (: </dev/tcp/127.0.0.1/{port}) 2>/dev/null && break; sleep 0.01; done
get() {{ curl --silent --show-error --fail --max-time 10 {headers} "$1"; }}"""
READY = "for i in $(seq {times}); do get {ready} | grep -q true && break; sleep 0.01; done"
PAGES = """\
for n in $(seq 1 {last}); do
    get {url}"?page=$n" >"$work/$(printf %03d "$n").json" || exit 1
    [ "$(cat "$work/$(printf %03d "$n").json")" = "[]" ] && break
done"""
LOAD = """
import csv, glob, json, sys
records = [record for path in sorted(glob.glob(sys.argv[1] + "/*.json")) for record in json.load(open(path))]
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Program, address and target."""
    paths = [quote.text for quote in clause.paths]
    program = next((path for path in paths if path.endswith(".py")), None)
    url = next((match for path in paths if (match := URL.fullmatch(path))), None)
    target = next((path for path in paths if path != program and not URL.fullmatch(path)), None)
    return {"program": program, "url": url[0], "port": url[1], "target": target} if program and url and target else None


def read_key(clause: Clause) -> Reading | None:
    """The name and value of a header."""
    texts = [text.strip() for quote in clause.quotes for text in quote.text.split(":")]
    return {"header": texts[0], "key": texts[1]} if len(texts) == 2 else None


def command(reading: Reading, options: Options) -> str:
    """Start, wait for the port, ask, write."""
    url, port = reading["url"], reading["port"]
    headers = f"-H {shlex.quote('{header}: {key}'.format(**reading))}" if options.get("key") else ""
    parts = [START.format(program=shlex.quote(reading["program"]), port=port, headers=headers)]
    if "ready" in options:
        ready = shlex.quote(f"http://127.0.0.1:{port}/ready")
        parts.append(READY.format(times=options["ready"], ready=ready))
    if "pages" in options:
        parts.append(PAGES.format(last=options["pages"], url=shlex.quote(url)))
    else:
        parts.append(f'get {shlex.quote(url)} >"$work/all.json" || exit 1')
    write = python(LOAD + rows_of(options), "WORK", reading["target"]).replace("WORK", '"$work"', 1)
    return script(folder_of(reading["target"]), *parts, write)


WAYS = OperationWays(
    operation="query_service",
    cues=frozenset({"service", "start", "started", "fetch", "answers", "runs"}),
    read=read,
    slips=SLIPS,
    details=(
        NULLS,
        HEADLESS,
        Detail(
            "pagination",
            frozenset({"pages", "page", "time", "request"}),
            {"pages": 500},
            {"two_pages": {"pages": 2}},
        ),
        Detail(
            "slow_start",
            frozenset({"ready", "load", "loads", "polling", "early", "repeatedly"}),
            {"ready": 500},
            {"asked_once": {"ready": 1}},
        ),
        Detail("key", frozenset({"key", "header", "send", "request"}), {"key": True}, {}, read_key),
    ),
    command=command,
)
