#!/usr/bin/env bash
# A headless Chromium for the test of the report page: the one that is there, else Debian's, where apt and root allow.
# Without one that test is skipped, so nothing here ends a set-up.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

if have chromium || have chromium-browser || have google-chrome; then exit 0; fi
if is_linux && is_root && have apt-get; then
    say "installing Chromium with apt, for the test of the report page; half a minute"
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive limited 300 apt-get -qq -y --no-install-recommends install chromium; } \
        >/dev/null 2>&1 || true
fi
have chromium || say "no Chromium: the test of the report page in a browser will be skipped"
