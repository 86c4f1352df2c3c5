#!/bin/bash
[ "$(getent passwd worker | cut -d: -f7)" = /bin/sh ] && id -nG worker | grep -qw staff && r=1 || r=0
echo $r > /logs/verifier/reward.txt
