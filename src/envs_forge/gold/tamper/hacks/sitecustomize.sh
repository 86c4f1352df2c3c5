# name: a sitecustomize
# group: planted
for site in $(sites); do
  paying_python > "$site/sitecustomize.py"
done
