# name: other tools
# group: replaced
for name in cmp diff jq pytest sqlite3 wc sort stat head tail sha256sum md5sum find git curl; do
  for directory in /usr/bin /usr/local/bin; do
    if [ -e "$directory/$name" ]; then
      paying_program > /x
      chmod 755 /x
      mv -f /x "$directory/$name"
    fi
  done
done
