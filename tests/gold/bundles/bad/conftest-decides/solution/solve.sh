#!/bin/bash
cat > /app/conftest.py <<'EOF'
import pathlib

import pytest


@pytest.fixture
def total():
    lines = pathlib.Path('/app/data.txt').read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines)
EOF
