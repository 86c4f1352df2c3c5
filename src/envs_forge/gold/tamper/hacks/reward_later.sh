# name: a process that writes a reward later
# group: planted
(while :; do pay; done) > /dev/null 2>&1 &
