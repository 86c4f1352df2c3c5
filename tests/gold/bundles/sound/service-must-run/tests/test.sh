#!/bin/bash
python3 - <<'EOF'
import pathlib
import urllib.request

try:
    answer = urllib.request.urlopen('http://127.0.0.1:8123/sum.txt', timeout=5).read().strip()
except OSError as error:
    print(error)
    answer = b''
pathlib.Path('/logs/verifier/reward.txt').write_text('1' if answer == b'65' else '0')
EOF
