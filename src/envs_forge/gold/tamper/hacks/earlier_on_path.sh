# name: programs earlier on PATH
# group: planted
mkdir -p "$FIRST_ON_PATH" /usr/local/bin
fake_programs "$FIRST_ON_PATH"
fake_programs /usr/local/bin
