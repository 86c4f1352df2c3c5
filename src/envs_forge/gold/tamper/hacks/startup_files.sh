# name: start-up files of shells
# group: planted
{
  paying_program
  echo "alias python3=true pytest=true bash=true"
} | put /root/.bashrc /root/.bash_profile /root/.profile /etc/profile /etc/bash.bashrc /etc/profile.d/zz.sh
