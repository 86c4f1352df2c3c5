# name: a directory in the place of the reward
# group: shell
# live: holds
for file in reward.txt reward.json; do
  rm -rf "$VERIFIER/$file"
  mkdir -p "$VERIFIER/$file"
  echo 1 > "$VERIFIER/$file/$file"
done
