# name: a process that writes a reward later
# group: planted
(while :; do pay; sleep 0.05; done) > /dev/null 2>&1 &
