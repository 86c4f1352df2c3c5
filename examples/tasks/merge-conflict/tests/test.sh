#!/bin/bash
# The history first, then the program as it is in the commit.

reward=0
work=$(mktemp -d)

finish() {
    mkdir -p /logs/verifier
    echo "$reward" > /logs/verifier/reward.txt
    rm -rf "$work"
}
trap finish EXIT

fail() {
    echo "FAIL: $*"
    exit 1
}

# The ids of both tips follow from the content, author and dates that the image was made with.
old_main=94ab840e0932fcbd59d2ee423487e2d89f11fbed
discounts=ae14494586f5fd5bc27842dbfae5c922e8020691

git config --global --add safe.directory /app/till
cd /app/till || fail "no repository"
[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "main is not checked out"
[ ! -e .git/MERGE_HEAD ] || fail "the merge is still in progress"
[ "$(git rev-parse feature/discounts)" = "$discounts" ] || fail "feature/discounts moved"
[ "$(git log -1 --format=%P main)" = "$old_main $discounts" ] || fail "parents of main: $(git log -1 --format=%P main)"
[ -z "$(git status --porcelain)" ] || fail "the working tree is not clean: $(git status --porcelain)"
git grep -nE '^(<<<<<<<|\|\|\|\|\|\|\||=======|>>>>>>>)( |$)' main -- && fail "conflict markers are left"

mkdir "$work/tree"
git archive main | tar -x -C "$work/tree" || fail "the commit cannot be read"
cd "$work" || exit 1

# check NAME BASKET STATUS OUTPUT
check() {
    printf "$2" > "$work/basket"
    got=$(python3 "$work/tree/till.py" "$work/basket" 2> "$work/errors")
    status=$?
    [ "$status" -eq "$3" ] || fail "$1: status $status: $(tail -n 1 "$work/errors")"
    [ "$got" = "$(printf "$4")" ] || fail "$1: printed $got"
}

check plain 'apple 1\nbread 2\n\ncheese 1\n' 0 'apple x1 0.45\nbread x2 5.60\ncheese x1 7.10\ntotal 13.15'
check comment '# for friday\nwine 1 # red\n' 0 'wine x1 9.95\ntotal 9.95'
check bulk-below 'apple 9\nwine 5\n' 0 'apple x9 4.05\nwine x5 49.75\ntotal 53.80'
check bulk-at 'apple 10\nwine 6\n' 0 'apple x10 4.05\nwine x6 50.75\ntotal 54.80'
check rounding 'apple 11\nvoucher TEAM2\n' 0 'apple x11 4.46\nvoucher TEAM2 -2.00\ntotal 2.46'
check rounding-wine 'wine 7\n' 0 'wine x7 59.21\ntotal 59.21'
check each-line 'apple 6\napple 6\n' 0 'apple x6 2.70\napple x6 2.70\ntotal 5.40'
check floor 'apple 3\nvoucher WELCOME5\n' 0 'apple x3 1.35\nvoucher WELCOME5 -5.00\ntotal 0.00'
check unknown-voucher 'voucher NOPE # expired\nbread 1\n' 0 'bread x1 2.80\ntotal 2.80'
check cents 'cheese 3\nbread 3\napple 7\n' 0 'cheese x3 21.30\nbread x3 8.40\napple x7 3.15\ntotal 32.85'
check unknown-article 'bread 1\npear 2\n' 3 ''
[ "$(cat "$work/errors")" = "unknown article: pear" ] || fail "message: $(cat "$work/errors")"

echo "all checks passed"
reward=1
