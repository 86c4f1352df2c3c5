#!/bin/sh
# Builds init.<machine> from init.c, for this machine or, given a compiler's prefix, for another:
#   sh build.sh                                 → init.x86_64 on a PC
#   sh build.sh aarch64-linux-gnu- aarch64      → a cross build
#   sh build.sh '' x86_64 OUTPUT                → elsewhere
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:-}
machine=${2:-$(uname -m)}
output=${3:-$here/init.$machine}
case $machine in x86_64) special=-fcf-protection=none ;; *) special= ;; esac
# shellcheck disable=SC2086
"${prefix}gcc" -std=gnu11 -Wall -Wextra -Werror -Os -ffreestanding -fno-builtin -fno-stack-protector -fno-pic -no-pie \
    -fno-asynchronous-unwind-tables $special -nostdlib -static -Wl,--build-id=none -Wl,-z,norelro \
    -Wl,-z,noexecstack -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -s -o "$output" "$here/init.c"
"${prefix}objcopy" --remove-section=.comment --remove-section=.note.gnu.property "$output"
chmod 755 "$output"
