#!/bin/bash
mkdir -p /logs/veri
mv /logs/veri /logs/x; d=/logs/veri
mkdir -p "${d}fier"
echo 1 > "${d}fier/"rew*.txt
printf 1 > "${d}fier/$(echo drawer.txt | rev | rev | sed s/drawer/reward/)"
