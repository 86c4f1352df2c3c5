"""Start a local service, ask it for its records and write these as CSV."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from importlib.resources import files

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.exported import HEADLESS, NULLS, SLIPS, base_words, exported, writing
from envs_forge.synthesis.procedural.operation import Brief, Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.sources import records as source
from envs_forge.synthesis.procedural.values.records import Records
from envs_forge.synthesis.procedural.values.table import Table

PROGRAM = "envs_forge.synthesis.procedural"
LOADING = 3
"""So many questions after the state of a service that loads until it is ready."""
SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 {program} >/dev/null 2>&1 &
service=$!
trap 'kill "$service"' EXIT
python3 - {url} {target} <<'EOF'
import csv, json, sys, time
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin
from urllib.request import Request, urlopen
url = sys.argv[1]
def ask(address):
    for attempt in range(500):
        try:
            with urlopen(Request(address, headers={headers!r})) as answer:
                return json.load(answer)
        except HTTPError:
            raise
        except URLError:
            time.sleep(0.02)
    raise SystemExit("the service does not answer")
{asking}{writing}EOF
"""
WAIT = 'while not ask(urljoin(url, "/ready"))["ready"]:\n    time.sleep(0.02)\n'
PAGES = """\
records, number = [], 1
while page := ask(f"{url}?page={number}"):
    records += page
    number += 1
"""


class QueryService(Operation):
    """service → table."""

    id = "query_service"
    title = "answer of the service"
    takes = None
    gives = Table
    skills = ("domain/services", "artifact/http-endpoint", "artifact/csv", "operation/query-service")
    stems = ("answer", "fetched", "served")
    effort = 2
    fixture = "records_to_csv"
    slips = SLIPS
    said = (
        "Start the service `{program}` with Python, fetch `{url}`, and write the JSON list of records that it answers "
        "to {target} as CSV: {then}one line a record, fields and records in the order of the answer{null}.",
        "Once the service `{program}` (a Python program) runs, it answers at `{url}` with a JSON list of records; save "
        "them as a comma-separated table in {target}, {with}without changing the order of fields or records{null}.",
        "{target} must be a CSV file of the records that the local service `{program}`, a Python program that has to "
        "be started first, gives as a JSON list at `{url}`: {names}both fields and records keep the order in which it "
        "gives them{null}.",
    )
    knobs = (
        NULLS,
        HEADLESS,
        Knob(
            "pagination",
            "constraint/pagination",
            (
                "The service gives {page_size} records at a time: add `?page=1`, `?page=2` and so on to the address "
                "until the list comes back empty.",
                "Its answer comes in pages of {page_size} records, numbered from 1 by the parameter `page`, and all "
                "pages up to the first empty one are needed.",
                "One request returns only {page_size} records, so go through the pages (`page=1`, `page=2`, …) until "
                "there are no more.",
            ),
            slips=("two_pages",),
            ambient=False,
        ),
        Knob(
            "slow_start",
            "constraint/slow-start",
            (
                "Before it can answer it has to load its data: ask for `/ready` on the same port again and again "
                "until the field `ready` is true.",
                "The service refuses requests while it loads; keep polling `/ready` on the same port until it says "
                "that `ready` is true.",
                "Do not ask too early: the path `/ready` on the same port must be asked repeatedly until `ready` turns "
                "true.",
            ),
            slips=("asked_once",),
            ambient=False,
        ),
        Knob(
            "key",
            "constraint/request-headers",
            (
                "Every request for records needs the header `X-Key` with the value `{key}`.",
                "Send the header `X-Key: {key}` along, or the service will not answer.",
                "The service wants to see a key: set the request header `X-Key` to `{key}`.",
            ),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Brief, knobs: Knobs) -> Params | None:
        """Records, an address, and how the service behaves."""
        records = source.make(dice.fork("records"), value.vocabulary, value.count, value.features)
        folder = dice.pick(value.vocabulary.services)
        size = dice.between(3, 5)
        return {
            "records": records,
            "program": f"/opt/{folder}/serve.py",
            "port": dice.between(8100, 8999),
            "path": f"/{dice.pick(value.vocabulary.stems)}",
            "page_size": size if "pagination" in knobs else 0,
            "loading": LOADING if "slow_start" in knobs else 0,
            "key": "".join(dice.pick("abcdefghkmnpqrstuvwxyz23456789") for _ in range(10)),
            "locked": "key" in knobs,
            "words": base_words(records.table, knobs),
        }

    def apply(self, value: Brief, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """The records as a table; none at all when the service would refuse to answer."""
        table: Table = params["records"].table
        early = params["loading"] and ("slow_start" not in knobs or slip == "slow_start:asked_once")
        if early or (params["locked"] and "key" not in knobs):
            return Table((), (), (), header=False)
        size = params["page_size"]
        if size and "pagination" not in knobs:
            table = table.with_rows(table.rows[:size])
        if slip == "pagination:two_pages":
            table = table.with_rows(table.rows[: 2 * size])
        return exported(table, knobs, slip)

    def slots(self, params: Params) -> Mapping[str, str]:
        """Program, address, page size, key, and what there is to say of header line and null."""
        return {
            "program": params["program"],
            "url": address(params),
            "page_size": str(params["page_size"]),
            "key": params["key"],
            **params["words"],
        }

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Start, ask, write, stop."""
        asking = WAIT if "slow_start" in knobs else ""
        asking += PAGES if "pagination" in knobs else "records = ask(url)\n"
        return SOLUTION.format(
            target=paths.target,
            program=shlex.quote(params["program"]),
            url=shlex.quote(address(params)),
            headers={"X-Key": params["key"]} if "key" in knobs else {},
            asking=asking,
            writing=writing(knobs),
        )

    def system(self, params: Params) -> Mapping[str, BundleFile]:
        """The service and its data."""
        folder = params["program"].split("/")[2]
        program = files(PROGRAM).joinpath("services", "records.py.in").read_bytes()
        return {f"{folder}/serve.py": BundleFile(data=program), f"{folder}/store.json": _store(params)}


def address(params: Params) -> str:
    """Where the records are."""
    return f"http://127.0.0.1:{params['port']}{params['path']}"


def _store(params: Params) -> BundleFile:
    records: Records = params["records"]
    own = {
        "port": params["port"],
        "path": params["path"],
        "page_size": params["page_size"],
        "loading": params["loading"],
        "key": params["key"] if params["locked"] else "",
        "fields": list(records.table.columns),
    }
    head = json.dumps(own, ensure_ascii=False)[:-1]
    rows = ",\n".join(json.dumps([*record.values()], ensure_ascii=False) for record in records.objects())
    return BundleFile(data=f'{head}, "rows": [\n{rows}\n]}}\n'.encode())


OPERATION = QueryService()
