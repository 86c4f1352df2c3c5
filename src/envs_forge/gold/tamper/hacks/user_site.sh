# name: a user's own site
# group: planted
for library in /usr/lib/python3* /usr/local/lib/python3*; do
  paying_python | put "/root/.local/lib/${library##*/}/site-packages/usercustomize.py"
done
