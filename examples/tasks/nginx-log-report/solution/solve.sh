#!/bin/bash
set -euo pipefail

cat > /app/log-report <<'PROGRAM'
#!/usr/bin/env python3
"""Report on a directory of nginx access logs (log_format timed) as JSON."""

import gzip
import json
import math
import re
import sys
from collections import Counter, defaultdict
from datetime import datetime, timezone
from pathlib import Path

NAME = re.compile(r"access\.log(\.\d+(\.gz)?)?")
LINE = re.compile(
    r'(?P<addr>\S+) - (?P<user>.*?) \[(?P<time>[^\]]+)\] "(?P<request>[^"]*)" (?P<status>\d{3}) (?P<bytes>\d+)'
    r' "[^"]*" "[^"]*" (?P<seconds>\d+\.\d+)'
)


def lines(directory):
    for path in sorted(Path(directory).iterdir()):
        if NAME.fullmatch(path.name) and path.is_file():
            with (gzip.open if path.suffix == ".gz" else open)(path, "rt", errors="replace", newline="\n") as log:
                yield from (line.rstrip("\n") for line in log if line.strip())


def path_of(request):
    words = request.split(" ")
    return words[1].partition("?")[0] if len(words) == 3 and all(words) else None


def main(directory):
    total = malformed = size = 0
    clients, status, errors, times = set(), Counter(), Counter(), defaultdict(list)
    for line in lines(directory):
        total += 1
        match = LINE.fullmatch(line)
        try:
            when = datetime.strptime(match["time"], "%d/%b/%Y:%H:%M:%S %z")
        except (TypeError, ValueError):
            malformed += 1
            continue
        clients.add(match["addr"])
        size += int(match["bytes"])
        status[match["status"]] += 1
        if match["status"].startswith("5"):
            errors[when.astimezone(timezone.utc).strftime("%Y-%m-%dT%H")] += 1
        path = path_of(match["request"])
        if path is not None:
            times[path].append(float(match["seconds"]))
    slowest = [
        {"path": path, "requests": len(values), "p95": sorted(values)[math.ceil(len(values) * 95 / 100) - 1]}
        for path, values in times.items()
        if len(values) >= 5
    ]
    slowest.sort(key=lambda row: (-row["p95"], row["path"]))
    return {
        "lines": total,
        "malformed": malformed,
        "clients": len(clients),
        "bytes": size,
        "status": dict(sorted(status.items())),
        "server_errors_by_hour": dict(sorted(errors.items())),
        "slowest": slowest[:5],
    }


json.dump(main(sys.argv[1]), sys.stdout, indent=2)
print()
PROGRAM
chmod 755 /app/log-report
/app/log-report /app/logs > /app/report.json
