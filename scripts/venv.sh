#!/usr/bin/env bash
# Make or renew the virtual environment .venv with exactly the versions of constraints.txt; with the argument `train`
# .venv-train, which has the extra of that name too (constraints-train.txt).
#
# A stamp in it says what it was made from; while that holds there is nothing to do. The stamp is absent while packages
# are installed, so one of ours without a stamp was cut off, and is made again. An environment that we did not make
# is somebody's own: packages are added to it, it is never removed.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

EXTRA=${1:-}
NAME=.venv${EXTRA:+-$EXTRA}
EXTRAS=dev${EXTRA:+,$EXTRA}
VENV=$PWD/$NAME
PINS=(constraints.txt ${EXTRA:+"constraints-$EXTRA.txt"})
OURS=$VENV/envs-forge.made
STAMP=$VENV/envs-forge.stamp

# What the environment is made from. It holds absolute paths, so a moved copy is not the same.
wanted() { printf '%s\n' "$VENV" && cat pyproject.toml "${PINS[@]}"; }

current() { [ -x "$VENV/bin/python" ] && [ -e "$STAMP" ] && wanted | cmp -s - "$STAMP"; }

works() { "$VENV/bin/python" -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null; }

# Remove what is ours and not usable: cut off, moved here from elsewhere, or without its interpreter.
clear_away() {
    rmdir "$VENV" 2>/dev/null || true # cut off at the very start
    if [ ! -d "$VENV" ]; then return 0; fi
    if [ ! -e "$OURS" ]; then
        works || die "$NAME is there, but its Python does not run or is older than 3.11" "rm -r $NAME"
    elif [ ! -e "$STAMP" ] || [ "$(head -n 1 "$STAMP")" != "$VENV" ] || ! works; then
        say "removing the unfinished or moved $NAME"
        rm -rf "$VENV"
    fi
}

create() {
    local python
    python=$(scripts/find_python.sh)
    say "making $NAME with $python"
    mkdir "$VENV"
    : >"$OURS"
    "$python" -m venv "$VENV"
}

install() {
    local long="half a minute"
    if [ -n "$EXTRA" ]; then long="some minutes, 1.5 GB"; fi
    say "installing into $NAME with pip: $(cat "${PINS[@]}" | grep -c ==) pinned packages (${PINS[*]}) and Envs-FORGE; $long"
    rm -f "$STAMP"
    "$VENV/bin/python" -m pip install -qq --no-compile --disable-pip-version-check "${PINS[@]/#/-c}" -e ".[$EXTRAS]"
    "$VENV/bin/python" -m compileall -q src/envs_forge || true # the first start need not do it
    wanted >"$STAMP.new"
    mv "$STAMP.new" "$STAMP"
}

if current; then exit 0; fi
hold_lock "venv-$(echo "$VENV" | cksum | cut -d ' ' -f 1)"
if current; then exit 0; fi # another set-up has just made it
clear_away
if [ ! -d "$VENV" ]; then create; fi
install
say "$NAME ready"
