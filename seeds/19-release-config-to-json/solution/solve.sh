#!/bin/bash
set -euo pipefail

# 1. settings as JSON
(
mkdir -p "$(dirname /app/release/options.json)"
python3 - /app/build/parts.ini /app/release/options.json <<'EOF'
import configparser, json, sys
parser = configparser.ConfigParser(interpolation=None, strict=False)
parser.optionxform = str
parser.read(sys.argv[1], encoding="utf-8")
data = {name: {key: value for key, value in parser[name].items()} for name in parser.sections()}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(data, file, indent=2)
EOF
)
