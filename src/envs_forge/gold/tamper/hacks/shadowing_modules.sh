# name: modules in the working directory
# group: planted
for module in pytest json re pathlib csv subprocess sqlite3 unittest argparse hashlib datetime; do
  if [ ! -e "./$module.py" ]; then paying_python > "./$module.py"; fi
done
