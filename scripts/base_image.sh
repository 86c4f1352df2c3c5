#!/usr/bin/env bash
# Make the local base image that bundles start from: Debian 12 with the tools that tasks and their tests use.
#
# Where the registry answers, it is built on the real debian:12.11-slim. Where none does, it is built from the
# distribution's packages with mmdebstrap and labelled a stand-in; the tar stays in the cache directory, so that the
# next time takes seconds. An image of the same recipe (label envs-forge.recipe) is left as it is.
#
#   base_image.sh [TAG]     (default envs-forge/base:1)
set -eu
cd "$(dirname "$0")"
# shellcheck source=scripts/lib.sh
. ./lib.sh

TAG=${1:-envs-forge/base:1}
UPSTREAM=debian:12.11-slim
SUITE=bookworm
CERTIFICATES=/usr/local/share/ca-certificates # the host's own additions, so that builds can reach what the host can
BUNDLE=/etc/ssl/certs/ca-certificates.crt

checksum() { if have sha256sum; then sha256sum; else shasum -a 256; fi | cut -c1-16; }

# What the image is made of, in one word: the same word means that it need not be made again.
recipe() {
    {
        cat base_image/packages.txt base_image/Dockerfile base_image.sh
        cat "$CERTIFICATES"/*.crt 2>/dev/null || true
    } | checksum
}

present() { [ "$(docker image inspect --format '{{index .Config.Labels "envs-forge.recipe"}}' "$TAG" 2>/dev/null)" = "$RECIPE" ]; }

# Build on the registry's image, if it can be pulled; false if not.
from_registry() {
    local context=$WORK/context
    docker image inspect "$UPSTREAM" >/dev/null 2>&1 || {
        say "trying to pull $UPSTREAM"
        limited 180 docker pull -q "$UPSTREAM" >/dev/null 2>&1 || return 1
    }
    say "building $TAG on $UPSTREAM"
    mkdir -p "$context/ca-certificates"
    cp base_image/Dockerfile "$context"
    cp "$CERTIFICATES"/*.crt "$context/ca-certificates" 2>/dev/null || true
    docker build -q -t "$TAG" --label "envs-forge.recipe=$RECIPE" --label "envs-forge.from=$UPSTREAM" \
        --build-arg "FROM=$UPSTREAM" --build-arg "PACKAGES=$(tr '\n' ' ' <base_image/packages.txt)" "$context" >/dev/null
}

# The first mirror that apt uses here for the component main: of Debian 12 if there is one, else of what there is.
mirror() {
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v suite="$SUITE" '$2 == "main" { if ($1 == suite) { print $3; found = 1; exit } if (!any) any = $3 }
            END { if (!found) print any }'
}

# Bootstrap the tar $1 from packages.
bootstrap() {
    local source
    have apt-get || die "no image registry answers, and this machine has no apt to build the base image with" \
        "connect to a registry, or load an image and tag it: docker tag IMAGE $TAG"
    is_root || die "no image registry answers, and building the base image from packages needs root" \
        "connect to a registry, or run: sudo make base-image"
    if ! have mmdebstrap; then
        say "installing with apt: mmdebstrap"
        apt-get -qq update
        DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install mmdebstrap >/dev/null
    fi
    source="deb $(mirror) $SUITE main"
    say "no registry in reach: building Debian 12 ($SUITE) from packages, about a minute"
    mmdebstrap --quiet --mode=root --variant=minbase \
        --include="$(paste -sd, base_image/packages.txt)" \
        --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/bin/*lto-dump*' \
        --customize-hook="sh $PWD/base_image/add_certificates.sh \"\$1\" $CERTIFICATES" \
        "$SUITE" "$WORK/rootfs.tar" "$source"
    mkdir -p "$(dirname "$1")"
    mv "$WORK/rootfs.tar" "$1"
}

from_packages() {
    local tar
    tar=$(cache_dir)/base-$RECIPE.tar
    [ -s "$tar" ] || bootstrap "$tar"
    say "importing $TAG from $tar"
    docker import \
        --change 'CMD ["bash"]' \
        --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
        --change "ENV SSL_CERT_FILE=$BUNDLE REQUESTS_CA_BUNDLE=$BUNDLE PIP_CERT=$BUNDLE PIP_BREAK_SYSTEM_PACKAGES=1" \
        --change "LABEL envs-forge.recipe=$RECIPE envs-forge.stand-in=\"Debian 12 from packages, no registry was in reach\"" \
        "$tar" "$TAG" >/dev/null
}

RECIPE=$(recipe)
engine_answers || die "no container engine answers" "make engine"
if present; then exit 0; fi
hold_lock base-image
if present; then exit 0; fi # another set-up has just made it
mkdir -p "$(cache_dir)"
WORK=$(mktemp -d "$(cache_dir)/tmp.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
from_registry || from_packages
say "base image ready: $TAG ($(docker image inspect --format '{{.Size}}' "$TAG" | awk '{ printf "%d MB", $1 / 1e6 }'))"
