#!/usr/bin/env bash
# Bring up a container engine, or stop the one that we brought up.
#
#   engine.sh start    use the engine that answers; else install one (Linux, root, apt) and start dockerd by hand
#   engine.sh stop     stop the engine that `start` started; any other is left alone
#   engine.sh status   `ours`, `foreign` or `none`
#
# Our dockerd keeps everything, pidfile and log included, under one directory, so that it never meets the data of
# another engine. ENVS_FORGE_ENGINE_DIR and ENVS_FORGE_ENGINE_SOCKET move it; ENVS_FORGE_DOCKERD_FLAGS adds flags.
# A second engine on one machine needs a network namespace of its own, or the two fight over the bridge docker0.
set -eu
cd "$(dirname "$0")"
# shellcheck source=scripts/lib.sh
. ./lib.sh

DIR=${ENVS_FORGE_ENGINE_DIR:-/var/lib/envs-forge/engine}
SOCKET=${ENVS_FORGE_ENGINE_SOCKET:-/var/run/docker.sock}
PIDFILE=$DIR/docker.pid
LOG=$DIR/dockerd.log
LAUNCHED='' # process id of the dockerd that this script started

# The process id of our dockerd, or nothing. A pid that now belongs to something else does not count.
our_pid() {
    local pid
    pid=$(cat "$PIDFILE" 2>/dev/null) || return 0
    if tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF -- "--pidfile=$PIDFILE"; then printf '%s\n' "$pid"; fi
}

status() {
    if [ -n "$(our_pid)" ]; then echo ours; elif engine_answers; then echo foreign; else echo none; fi
}

# Say why we cannot start an engine here, if so.
check_startable() {
    if [ -n "${DOCKER_HOST-}" ] && [ "$DOCKER_HOST" != "unix://$SOCKET" ]; then
        die "DOCKER_HOST is set, but no engine answers there" "start that engine, or: unset DOCKER_HOST"
    fi
    if [ -S "$SOCKET" ] && [ ! -w "$SOCKET" ]; then
        die "an engine may be running, but this user may not use $SOCKET" "usermod -aG docker $(id -un), then log in again"
    fi
    is_linux || die "no container engine answers" "start Docker Desktop or colima, then run this again"
    is_root || die "no container engine answers, and starting one needs root" \
        "start Docker yourself (systemctl start docker), or run: sudo make engine"
}

# Mounts that a killed dockerd left under its directory, innermost first.
release_mounts() {
    local mount
    awk -v dir="$DIR/" 'index($2, dir) == 1 { print $2 }' /proc/self/mounts | sort -r | while read -r mount; do
        umount -l "$mount" || true
    done
}

launch() {
    mkdir -p "$DIR"
    release_mounts
    rm -f "$PIDFILE" # of a dead process; dockerd would mistake a zombie for a living one
    echo '{}' >"$DIR/daemon.json"
    # shellcheck disable=SC2086
    setsid dockerd --config-file="$DIR/daemon.json" --data-root="$DIR/data" --exec-root="$DIR/exec" \
        --pidfile="$PIDFILE" --host="unix://$SOCKET" --log-level=warn ${ENVS_FORGE_DOCKERD_FLAGS-} \
        >>"$LOG" 2>&1 </dev/null 9>&- &
    LAUNCHED=$!
}

# Wait until dockerd answers; show the end of its log when it gives up.
wait_ready() {
    local left=240
    until DOCKER_HOST=unix://$SOCKET engine_answers; do
        left=$((left - 1))
        if [ "$left" = 0 ] || { [ -n "$LAUNCHED" ] && ! kill -0 "$LAUNCHED" 2>/dev/null; }; then
            tail -n 15 "$LOG" >&2
            die "dockerd did not come up (the end of $LOG is above)" "look at the log, then: make engine"
        fi
        sleep 0.25
    done
}

# What the oci engine needs beside an engine that somebody else installed. Without it the docker engine serves.
ensure_oci_tools() {
    if have runc && have mke2fs && have mount; then return 0; fi
    if ! is_linux || ! is_root || ! have apt-get; then return 0; fi
    say "installing with apt, for the oci engine: runc e2fsprogs mount"
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install \
        runc e2fsprogs mount; } >/dev/null 2>&1 ||
        say "apt could not install them; the docker engine serves alone (about 0.5 s a trial, not 0.04 s)"
}

# BuildKit's client beside an engine that somebody else installed without it.
ensure_buildx() {
    if docker buildx version >/dev/null 2>&1; then return 0; fi
    if is_linux && is_root && have apt-get; then ./install_engine.sh docker-buildx; fi
    docker buildx version >/dev/null 2>&1 || die "the docker client has no buildx, which builds need" \
        "install it: apt-get install docker-buildx, or docker-buildx-plugin from Docker's own packages"
}

start() {
    if ! engine_answers; then bring_up; fi
    ensure_buildx
    ensure_oci_tools
}

bring_up() {
    check_startable
    hold_lock engine
    if engine_answers; then return 0; fi # another set-up has just started it
    if ! have dockerd || ! have docker || ! have runc || ! docker buildx version >/dev/null 2>&1; then
        say "no container engine answers: installing one"
        ./install_engine.sh 9>&- # what a package starts must not inherit the lock
        if engine_answers; then return 0; fi # the package started it as a service
    fi
    if [ -z "$(our_pid)" ]; then
        say "starting dockerd (log: $LOG; stop it with: make engine-stop)"
        launch
    fi
    wait_ready
    engine_answers || die "dockerd runs at $SOCKET, but the docker client looks elsewhere" \
        "docker context use default, or: export DOCKER_HOST=unix://$SOCKET"
    say "engine ready: docker $(docker version --format '{{.Server.Version}}')"
}

stop() {
    local pid left=120
    pid=$(our_pid)
    if [ -z "$pid" ]; then
        say "no engine of ours is running"
    else
        say "stopping dockerd (process $pid)"
        kill -TERM "$pid"
    fi
    while [ -n "$(our_pid)" ]; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || die "dockerd (process $pid) does not stop" "look at $LOG"
        sleep 0.25
    done
    if is_linux; then release_mounts; fi
    rm -f "$PIDFILE"
}

case ${1-} in
start | stop | status) "$1" ;;
*) die "unknown command '${1-}'" "engine.sh start | stop | status" ;;
esac
