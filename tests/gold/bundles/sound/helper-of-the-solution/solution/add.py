import sys

print(sum(int(line.split()[1]) for line in open(sys.argv[1])))
