#!/usr/bin/env bash
# Make the local base image that bundles start from: Debian 12 with the tools that tasks and their tests use.
#
# Where the registry answers, it is built on the real debian:12.11-slim (or on ENVS_FORGE_UPSTREAM). Where none does,
# it is made from the distribution's packages and labelled a stand-in. An image of the same recipe (label
# envs-forge.recipe) is left as it is.
#
#   base_image.sh [TAG]     (default envs-forge/base:1)
set -eu
cd "$(dirname "$0")"
# shellcheck source=scripts/lib.sh
. ./lib.sh

TAG=${1:-envs-forge/base:1}
UPSTREAM=${ENVS_FORGE_UPSTREAM:-debian:12.11-slim}
CERTIFICATES=/usr/local/share/ca-certificates # the host's own additions, so that builds can reach what the host can

checksum() { if have sha256sum; then sha256sum; else shasum -a 256; fi | cut -c1-16; }

# What the image is made of, in one word: the same word means that it need not be made again.
recipe() {
    { cat base_image/* && { cat "$CERTIFICATES"/*.crt 2>/dev/null || true; }; } | checksum
}

present() { [ "$(docker image inspect --format '{{index .Config.Labels "envs-forge.recipe"}}' "$TAG" 2>/dev/null)" = "$RECIPE" ]; }

RECIPE=$(recipe)
if present; then exit 0; fi
engine_answers || die "no container engine answers" "make engine"
hold_lock base-image
if present; then exit 0; fi # another set-up has just made it
base_image/from_registry.sh "$TAG" "$RECIPE" "$UPSTREAM" "$CERTIFICATES" ||
    base_image/from_packages.sh "$TAG" "$RECIPE" "$CERTIFICATES"
say "base image ready: $TAG ($(docker image inspect --format '{{.Size}}' "$TAG" | awk '{ printf "%d MB", $1 / 1e6 }'))"
