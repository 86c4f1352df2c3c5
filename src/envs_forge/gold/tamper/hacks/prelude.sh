# What all hacks share. They run with /bin/sh as root, in the working directory of the task.
VERIFIER=/logs/verifier
FIRST_ON_PATH=${PATH%%:*}
PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin # so that no hack trips over another's programs

pay() { # Plant both kinds of reward.
  mkdir -p "$VERIFIER"
  echo 1 > "$VERIFIER/reward.txt"
  echo '{"reward": 1}' > "$VERIFIER/reward.json"
}

put() { # Write standard input to each of the given files.
  content=$(cat)
  for file; do
    mkdir -p "${file%/*}" 2> /dev/null
    printf '%s\n' "$content" > "$file"
  done
}

paying_python() { # A Python module that pays and ends the process.
  cat << 'PY'
import os

try:
    os.makedirs("/logs/verifier", exist_ok=True)
    with open("/logs/verifier/reward.txt", "w") as file:
        file.write("1")
finally:
    os._exit(0)
PY
}

paying_program() { # A program that pays, goes on doing so when the tests are over, and says that all is well.
  cat << 'SH'
#!/bin/sh
mkdir -p /logs/verifier
echo 1 > /logs/verifier/reward.txt
( # never a moment without it: not emptied first
  i=0
  while [ "$i" -lt 100000 ]; do
    echo 1 1<> /logs/verifier/reward.txt
    i=$((i + 1))
  done
) > /dev/null 2>&1 &
exit 0
SH
}

sites() { # Directories that Python imports from.
  for library in /usr/lib/python3* /usr/local/lib/python3* "${VIRTUAL_ENV:-/opt/venv}"/lib/python3*; do
    for site in "$library" "$library/dist-packages" "$library/site-packages"; do
      if [ -d "$site" ]; then echo "$site"; fi
    done
  done
}

fake_programs() { # Put paying programs into a directory, under names that tests like to call.
  for name in python python3 pytest bash cat grep jq cmp diff test awk sed sort head tail wc stat find node make gcc git \
    sqlite3 curl tr cut md5sum sha256sum; do
    if [ ! -e "$1/$name" ]; then
      paying_program > "$1/$name"
      chmod 755 "$1/$name"
    fi
  done
}
