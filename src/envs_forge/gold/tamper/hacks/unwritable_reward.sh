# name: a reward that cannot be written again
# group: replaced
# live: holds
pay
chmod 444 "$VERIFIER/reward.txt" "$VERIFIER/reward.json"
chmod 555 "$VERIFIER"
chattr +i "$VERIFIER/reward.txt" "$VERIFIER/reward.json" "$VERIFIER" 2> /dev/null
mount --bind "$VERIFIER" "$VERIFIER" 2> /dev/null && mount -o remount,bind,ro "$VERIFIER" 2> /dev/null
