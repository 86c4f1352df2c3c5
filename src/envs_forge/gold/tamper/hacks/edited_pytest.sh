# name: an edited pytest
# group: replaced
for site in $(sites); do
  for file in "$site/pytest.py" "$site/pytest/__init__.py" "$site/_pytest/main.py"; do
    if [ -e "$file" ]; then paying_python > "$file"; fi
  done
done
