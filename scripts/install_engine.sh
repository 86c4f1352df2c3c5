#!/usr/bin/env bash
# Install a container engine with apt: dockerd, containerd, runc, BuildKit's client, and what the oci engine needs.
#
# Debian 12's own docker.io is old and has no BuildKit client, but Debian 13's runs on it as it is. So on
# Debian 12 these few packages come from Debian 13, at the mirror that this machine already uses, through an apt
# configuration of our own: the system's sources and pins stay as they are. Everywhere else apt's own choice serves.
#
#   install_engine.sh [--download-only] [PACKAGE ...]
#
# With packages, only those are installed. With --download-only nothing is changed; for tests.
set -eu
cd "$(dirname "$0")"
# shellcheck source=scripts/lib.sh
. ./lib.sh

NEWER="docker.io docker-cli docker-buildx docker-compose containerd"
HELPERS="runc iptables iproute2 e2fsprogs util-linux mount ca-certificates"

# Where apt finds Debian 12 on this machine, or nothing where it does not.
debian12_mirror() {
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "bookworm" && $2 == "main" { print $3; exit }'
}

# Write an apt configuration under $1 that adds Debian 13 (mirror $2) for the packages in NEWER alone.
write_private_config() {
    local dir=$1 mirror=$2 keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    mkdir -p "$dir/sources.d" "$dir/preferences.d" "$dir/lists/partial" "$dir/archives/partial"
    printf 'deb [signed-by=%s] %s %s main\n' \
        "$keyring" "$mirror" bookworm "$keyring" "$mirror" trixie >"$dir/sources.list"
    printf 'Package: *\nPin: release n=trixie\nPin-Priority: -1\n\nPackage: %s\nPin: release n=trixie\nPin-Priority: 990\n' \
        "$NEWER" >"$dir/preferences"
    cat >"$dir/apt.conf" <<CONF
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "$dir/sources.d";
Dir::Etc::preferences "$dir/preferences";
Dir::Etc::preferencesparts "$dir/preferences.d";
Dir::State::lists "$dir/lists";
Dir::Cache::archives "$dir/archives";
Acquire::Languages "none";
CONF
}

# Read the package lists: through the private configuration where the trick applies and works, else as apt is set up.
read_lists() {
    local dir=$1 mirror
    mirror=$(debian12_mirror)
    if [ -n "$mirror" ]; then
        write_private_config "$dir" "$mirror"
        if APT_CONFIG=$dir/apt.conf apt-get -qq update; then
            export APT_CONFIG=$dir/apt.conf
            say "Debian 12: taking docker and BuildKit from Debian 13 (private apt configuration, the system's stays)"
            return
        fi
        say "this machine's mirror has no Debian 13; taking Debian 12's docker"
    fi
    apt-get -qq update || say "apt could not read all its lists; going on with those that it has"
}

# The packages to install: those that this apt knows (Ubuntu splits them otherwise), no client where there is one.
wanted_packages() {
    local client=docker-cli package
    if have docker; then client=; fi
    apt-cache pkgnames | sort -u >"$1/names"
    for package in $NEWER $HELPERS; do
        if [ "$package" != docker-cli ] || [ -n "$client" ]; then
            if grep -qx "$package" "$1/names"; then printf '%s ' "$package"; fi
        fi
    done
}

main() {
    local work packages option=''
    if [ "${1-}" = --download-only ]; then
        option=$1
        shift
    fi
    if ! have apt-get; then
        die "no container engine answers, and this machine has no apt to install one with" \
            "install and start Docker (Docker Desktop or colima on macOS), then run this again"
    fi
    is_root || die "installing a container engine needs root" "start Docker yourself, or run: sudo make engine"
    work=$(mktemp -d)
    chmod 755 "$work" # apt downloads as a user of its own
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    say "reading the package lists"
    read_lists "$work"
    packages=${*:-$(wanted_packages "$work")}
    say "installing with apt: $packages"
    # An installation that was cut off leaves packages to be configured before apt does anything else.
    if [ -z "$option" ]; then dpkg --configure -a >"$work/log" 2>&1 || true; fi
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=120 \
        $option install $packages >>"$work/log" 2>&1 || {
        tail -n 20 "$work/log" >&2
        die "apt could not install the engine (its last lines are above)" "try: apt-get install docker.io docker-buildx"
    }
    say "installed"
}

main "$@"
