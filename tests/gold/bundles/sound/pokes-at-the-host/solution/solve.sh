#!/bin/bash
# Nothing here would do harm if it worked: what is written is what was read.
cd /app
awk '{ total += $2 } END { print total }' data.txt > sum.txt
: > reached.txt
try() {
  if timeout 5 sh -c "$1" > /dev/null 2>&1; then echo "$1" >> reached.txt; fi
}
try 'v=$(cat /proc/sys/kernel/core_pattern) && echo "$v" > /proc/sys/kernel/core_pattern'
try 'v=$(cat /proc/sys/vm/swappiness) && echo "$v" > /proc/sys/vm/swappiness'
try 'echo h > /proc/sysrq-trigger'
try 'head -c 1 /proc/kcore | grep -q .'
try 'head -c 1 /dev/mem'
try 'head -c 1 /dev/kmsg'
try 'mknod disk b 8 0 && head -c 512 disk'
try 'mknod disk2 b 254 0 && head -c 512 disk2'
try 'mknod memory c 1 1 && head -c 1 memory'
try 'mkdir -p m && mount -t tmpfs none m'
try 'mkdir -p c && mount -t cgroup -o memory none c'
try 'mount -o remount,rw /sys'
try 'mkdir /sys/fs/cgroup/memory/mine || mkdir /sys/fs/cgroup/pids/mine'
try 'unshare --mount true'
try 'hostname elsewhere'
try 'date -s "$(date)"'
try 'test -S /var/run/docker.sock || test -S /run/containerd/containerd.sock'
try 'python3 -c "import socket; socket.create_connection((\"169.254.169.254\", 80), 2)"'
try 'python3 -c "import socket; socket.create_connection((\"172.17.0.1\", 22), 2)"'
rm -rf disk disk2 memory m c
true
