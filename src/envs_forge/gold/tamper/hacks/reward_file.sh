# name: a reward file
# group: planted
# live: holds
pay
