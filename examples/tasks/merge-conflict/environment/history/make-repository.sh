#!/bin/sh
# make-repository.sh DIRECTORY: the till's repository, stopped in the middle of a merge.
set -eu
source=$(cd "$(dirname "$0")" && pwd)
git init -q -b main "$1"
cd "$1"
git config user.name "Till Team"
git config user.email "till@example.org"

commit() {
    when="$1T10:00:00+0000"
    cp "$source/$2/till.py" till.py
    [ ! -f "$source/$2/README.md" ] || cp "$source/$2/README.md" README.md
    git add -A
    GIT_AUTHOR_DATE=$when GIT_COMMITTER_DATE=$when git commit -q -m "$3"
}

commit 2025-02-03 base "Read baskets and print a receipt"
git branch feature/discounts
commit 2025-02-10 main "Keep money as cents; refuse unknown articles"
git checkout -q feature/discounts
commit 2025-02-12 discounts "Discounts by quantity and by voucher"
git checkout -q main
git merge feature/discounts > /dev/null && exit 1
git status --short | grep -q '^UU till.py'
