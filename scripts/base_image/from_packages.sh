#!/usr/bin/env bash
# from_packages.sh TAG RECIPE CERTIFICATES: make the base image without a registry, from packages: Debian 12's, or on
# Ubuntu, whose mirrors have no Debian, those of the same Ubuntu. The tar stays in the cache directory, so that the
# next time takes seconds.
set -eu
cd "$(dirname "$0")"
# shellcheck source=scripts/lib.sh
. ../lib.sh

TAG=$1 RECIPE=$2 CERTIFICATES=$3
SUITE=bookworm COMPONENTS=main NAME="Debian 12"
BUNDLE=/etc/ssl/certs/ca-certificates.crt
CACHE=$(cache_dir)
TAR=$CACHE/base-$RECIPE.tar
UBUNTU_CODENAME=$(sed -n 's/^UBUNTU_CODENAME=//p' /etc/os-release 2>/dev/null || true)
if [ -n "$UBUNTU_CODENAME" ]; then SUITE=$UBUNTU_CODENAME COMPONENTS="main universe" NAME="Ubuntu $UBUNTU_CODENAME"; fi

# The mirror that apt uses here: of the suite if there is one, else the first, which may hold the suite as well.
mirror() {
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v suite="$SUITE" '$2 == "main" { if ($1 == suite) { print $3; found = 1; exit } if (!any) any = $3 }
            END { if (!found) print any }'
}

check_bootable() {
    have apt-get || die "no image registry answers, and this machine has no apt to make the base image with" \
        "connect to a registry, or load a Debian image and tag it: docker tag IMAGE $TAG"
    is_root || die "no image registry answers, and making the base image from packages needs root" \
        "connect to a registry, or run: sudo make base-image"
    if ! have mmdebstrap; then
        say "installing with apt: mmdebstrap"
        apt-get -qq update || say "apt could not read all its lists; going on with those that it has"
        DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install mmdebstrap >/dev/null 2>&1 ||
            die "apt could not install mmdebstrap" "apt-get install mmdebstrap"
    fi
}

# Make the root file system; complete or not at all.
bootstrap() {
    local work
    check_bootable
    # What a killed run left behind. Never across mounts, which it may have left too.
    rm -rf --one-file-system "$CACHE"/bootstrap.* "$CACHE"/base-*.tar
    work=$(mktemp -d "$CACHE/bootstrap.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf --one-file-system '$work'" EXIT
    chmod 755 "$work"
    say "no registry in reach: making $NAME from packages, about a minute"
    TMPDIR=$work mmdebstrap --quiet --mode=root --variant=minbase \
        --include="$(paste -sd, packages.txt)" \
        --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/bin/*lto-dump*' \
        --customize-hook="sh $PWD/add_certificates.sh \"\$1\" $CERTIFICATES" \
        "$SUITE" "$work/rootfs.tar" "deb $(mirror) $SUITE $COMPONENTS"
    mv "$work/rootfs.tar" "$TAR"
}

mkdir -p "$CACHE"
[ -s "$TAR" ] || bootstrap
say "importing $TAG from $TAR"
docker import \
    --change 'CMD ["bash"]' \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    --change "ENV SSL_CERT_FILE=$BUNDLE REQUESTS_CA_BUNDLE=$BUNDLE PIP_CERT=$BUNDLE PIP_BREAK_SYSTEM_PACKAGES=1" \
    --change "LABEL envs-forge.recipe=$RECIPE envs-forge.stand-in=\"$NAME from packages, no registry was in reach\"" \
    "$TAR" "$TAG" >/dev/null
