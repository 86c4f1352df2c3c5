# shellcheck shell=bash
# Helpers that every script here shares. Sourced, never run. Bash 3.2 (macOS) is enough.

SETUP_STARTED=$SECONDS
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # where dockerd and mke2fs lie, and a plain `su` leaves out

# One progress line on stderr, with the seconds since the script began.
say() { printf '[%3ds] %s\n' "$((SECONDS - SETUP_STARTED))" "$*" >&2; }

# A missing prerequisite: what is wrong, then what to do about it. Exit 2, as the CLI does.
die() {
    printf 'error: %s\n' "$1" >&2
    if [ -n "${2-}" ]; then printf '  fix: %s\n' "$2" >&2; fi
    exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }
is_linux() { [ "$(uname -s)" = Linux ]; }
is_root() { [ "$(id -u)" = 0 ]; }

# Run a command with a limit in seconds where the machine has `timeout` (macOS has not).
limited() {
    if have timeout; then timeout "$@"; else shift; "$@"; fi
}

# Whether a container engine answers the docker client, whoever started it.
engine_answers() {
    have docker && limited 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

cache_dir() { printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/envs-forge"; }

# Hold the lock NAME until the script ends, so that two set-ups at once take turns. A daemon started
# meanwhile must close descriptor 9, or it keeps the lock for life.
hold_lock() {
    local dir file
    dir=$(cache_dir)
    file=$dir/$1.lock
    mkdir -p "$dir"
    have flock || return 0 # macOS: nothing here is shared but files written by rename
    exec 9>>"$file"
    if ! flock -n 9; then
        say "waiting for another set-up that is running (lock $file)"
        flock 9
    fi
}
