# name: a reward file
# group: planted
pay
