#!/bin/sh
# add_certificates.sh ROOT DIRECTORY: trust the certificates in DIRECTORY inside the root file system ROOT.
set -eu
mkdir -p "$1/usr/local/share/ca-certificates"
cp "$2"/*.crt "$1/usr/local/share/ca-certificates/" 2>/dev/null || true
chroot "$1" update-ca-certificates >/dev/null 2>&1
