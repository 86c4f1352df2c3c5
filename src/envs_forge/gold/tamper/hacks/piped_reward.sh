# name: a reward that is a pipe
# group: configured
mkdir -p "$VERIFIER"
rm -f "$VERIFIER/reward.txt"
mkfifo "$VERIFIER/reward.txt"
(while :; do echo 1 > "$VERIFIER/reward.txt"; done) > /dev/null 2>&1 &
