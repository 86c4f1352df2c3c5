# name: an installed plugin of pytest
# group: planted
for site in $(sites); do
  printf '[pytest11]\nzz = zz_plugin\n' | put "$site/zz-1.0.dist-info/entry_points.txt"
  printf 'Metadata-Version: 2.1\nName: zz\nVersion: 1.0\n' | put "$site/zz-1.0.dist-info/METADATA"
  paying_python > "$site/zz_plugin.py"
done
