#!/usr/bin/env bash
# The tests of training with TRL, in .venv-train. Where that cannot be made (no wheel of torch for this machine, no room)
# they are skipped, and it is said why. Arguments go to pytest.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

if ! scripts/venv.sh train; then
    say "SKIPPED: the tests of tests/train/grpo, since the extra train cannot be installed here (pip's reason is above)"
    exit 0
fi
TOKENIZERS_PARALLELISM=false .venv-train/bin/pytest tests/train/grpo "$@"
