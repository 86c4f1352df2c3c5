#!/usr/bin/env bash
# from_registry.sh TAG RECIPE UPSTREAM CERTIFICATES: build the base image on a registry's image.
# Fails with 1 when that image is neither here nor can be pulled.
set -eu
cd "$(dirname "$0")"
# shellcheck source=scripts/lib.sh
. ../lib.sh

TAG=$1 RECIPE=$2 UPSTREAM=$3 CERTIFICATES=$4

if ! docker image inspect "$UPSTREAM" >/dev/null 2>&1; then
    say "trying to pull $UPSTREAM"
    limited 180 docker pull -q "$UPSTREAM" >/dev/null 2>&1 || exit 1
fi
say "building $TAG on $UPSTREAM"
CONTEXT=$(mktemp -d)
trap 'rm -rf "$CONTEXT"' EXIT
mkdir "$CONTEXT/ca-certificates"
cp Dockerfile "$CONTEXT"
cp "$CERTIFICATES"/*.crt "$CONTEXT/ca-certificates" 2>/dev/null || true
docker build -q -t "$TAG" --label "envs-forge.recipe=$RECIPE" --label "envs-forge.from=$UPSTREAM" \
    --build-arg "FROM=$UPSTREAM" --build-arg "PACKAGES=$(tr '\n' ' ' <packages.txt)" "$CONTEXT" >/dev/null
