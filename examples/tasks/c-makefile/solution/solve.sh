#!/bin/bash
set -euo pipefail

cat > /app/Makefile <<'MAKEFILE'
# stats: summary figures of a column of numbers
PREFIX = /usr/local
CFLAGS = -O2 -Wall
OBJECTS = main.o summary.o

stats: $(OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) -lm

main.o: main.c summary.h version.h
	$(CC) $(CFLAGS) -c -o $@ main.c

summary.o: summary.c summary.h
	$(CC) $(CFLAGS) -c -o $@ summary.c

test: stats
	printf '1\n2\n3\n' | ./stats

install: stats
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 stats $(DESTDIR)$(PREFIX)/bin/stats

clean:
	rm -f $(OBJECTS) stats

.PHONY: test install clean
MAKEFILE
