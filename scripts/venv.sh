#!/usr/bin/env bash
# Make or renew the virtual environment .venv with exactly the versions of constraints.txt.
#
# A stamp in it says what it was made from; when that still holds there is nothing to do. While one is being made or
# renewed it carries a mark, so that one left half-done by an interruption is known as such and made again. An
# environment without stamp and mark is somebody's own: packages are added to it, it is never removed.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

VENV=$PWD/.venv
STAMP=$VENV/envs-forge.stamp
MARK=$VENV/envs-forge.unfinished

# What the environment is made from. It holds absolute paths, so a moved copy is not the same.
wanted() { printf '%s\n' "$VENV" && cat pyproject.toml constraints.txt; }

current() { [ -x "$VENV/bin/python" ] && [ ! -e "$MARK" ] && wanted | cmp -s - "$STAMP"; }

# Whether what lies at .venv has to go: unfinished, moved here from elsewhere, or its interpreter is gone or too old.
unusable() {
    [ -e "$MARK" ] && return 0
    [ -e "$STAMP" ] && [ "$(head -n 1 "$STAMP")" != "$VENV" ] && return 0
    ! "$VENV/bin/python" -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null
}

create() {
    local python
    python=$(scripts/find_python.sh)
    say "making .venv with $python"
    mkdir "$VENV"
    : >"$MARK"
    "$python" -m venv "$VENV"
}

install() {
    say "installing into .venv with pip: $(grep -c == constraints.txt) pinned packages (constraints.txt) and Envs-FORGE; half a minute"
    "$VENV/bin/python" -m pip install -qq --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev]'
    "$VENV/bin/python" -m compileall -q src/envs_forge || true # the first start need not do it
}

if current; then exit 0; fi
hold_lock "venv-$(pwd | cksum | cut -d ' ' -f 1)"
if current; then exit 0; fi # another set-up has just made it
if [ -d "$VENV" ] && unusable; then
    [ -e "$MARK" ] || [ -e "$STAMP" ] || die ".venv is there, but its Python does not run or is older than 3.11" "rm -r .venv"
    say "removing the unfinished or moved .venv"
    rm -rf "$VENV"
fi
if [ ! -d "$VENV" ]; then create; fi
: >"$MARK"
install
wanted >"$STAMP.new"
mv "$STAMP.new" "$STAMP"
rm "$MARK"
say ".venv ready"
