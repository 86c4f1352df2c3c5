#!/usr/bin/env bash
# Print the path of a Python that is at least 3.11 and can make virtual environments, or say how to get one.
# The variable PYTHON, if set, is the only candidate.
set -eu
cd "$(dirname "$0")"
# shellcheck source=scripts/lib.sh
. ./lib.sh

NAMES="python3.12 python3.11 python3.13 python3.14 python3 python"
CHECK='import sys, ensurepip, venv; assert sys.version_info >= (3, 11); print(sys.executable)'

# The path of the interpreter $1 if it is fit, as itself sees it (so that version managers' shims drop out).
fit() {
    local path
    path=$("$1" -c "$CHECK" 2>/dev/null) && printf '%s\n' "$path"
}

# Everything worth a try, best first: on PATH, then where version managers and Homebrew keep theirs.
candidates() {
    local name
    for name in $NAMES; do if have "$name"; then echo "$name"; fi; done
    for name in "$HOME"/.pyenv/versions/3.1[1-4]*/bin/python \
        "$HOME"/.local/share/uv/python/cpython-3.1[1-4]*/bin/python3 \
        /opt/homebrew/bin/python3.1[1-4] /usr/local/bin/python3.1[1-4]; do
        if [ -x "$name" ]; then echo "$name"; fi
    done
}

advice() {
    if [ "$(uname -s)" = Darwin ]; then
        echo "brew install python@3.12"
    elif have apt-get; then
        echo "apt-get install python3 python3-venv (Debian 12, Ubuntu 24.04 or newer), or uv python install 3.12"
    else
        echo "uv python install 3.12, or your distribution's package"
    fi
}

if [ -n "${PYTHON-}" ]; then
    fit "$PYTHON" || die "PYTHON=$PYTHON is no Python 3.11 or newer with venv" "set PYTHON to one, or: $(advice)"
    exit 0
fi
while read -r candidate; do
    if fit "$candidate"; then exit 0; fi
done <<LIST
$(candidates)
LIST
die "no Python 3.11 or newer with venv was found" "$(advice)"
