#!/bin/bash
# Builds in a copy of /app, so that nothing the agent left half built counts.

reward=0
work=$(mktemp -d)

finish() {
    mkdir -p /logs/verifier
    echo "$reward" > /logs/verifier/reward.txt
    rm -rf "$work"
}
trap finish EXIT

fail() {
    echo "FAIL: $*"
    [ -f "$work/out" ] && tail -n 15 "$work/out"
    exit 1
}

build() {
    timeout 60 make "$@" > "$work/out" 2>&1
}

for file in main.c summary.c summary.h version.h README install/NOTES; do
    [ "$(sha256sum < "/app/$file")" = "$(grep " $file\$" /tests/sources.sha256 | cut -d' ' -f1)  -" ] ||
        fail "$file was changed"
done

cp -a /app "$work/tree"
cd "$work/tree" || exit 1
rm -f stats *.o *.d
cp -a . "$work/pristine"

# 1. build, without warnings, once; a compiler that writes down what it is given shows what is compiled
cat > "$work/cc" <<'WRAPPER'
#!/bin/sh
echo "$*" >> "$CC_LOG"
exec gcc "$@"
WRAPPER
chmod 755 "$work/cc"
export CC_LOG=$work/cc.log
: > "$CC_LOG"
build || fail "make failed"
grep -qi warning "$work/out" && fail "a compiler warning"
printf '4\n1\n3\n2\n' | ./stats > "$work/figures" || fail "stats failed"
[ "$(cat "$work/figures")" = "$(printf 'n 4\nmean 2.500\ndeviation 1.291\nmedian 2.500')" ] || fail "figures: $(cat "$work/figures")"
[ "$(./stats --version)" = "stats 1.4" ] || fail "version"
build clean || fail "make clean failed"
build -j4 CC="$work/cc" || fail "make -j4 failed"
: > "$CC_LOG"
build -j4 CC="$work/cc" || fail "the second make failed"
[ ! -s "$CC_LOG" ] || fail "compiled again with nothing changed: $(cat "$CC_LOG")"

# 2. changed files; `compiled` prints the C files that were compiled since the log was emptied
compiled() {
    grep -oE '(main|summary)\.c' "$CC_LOG" | sort -u | tr '\n' ' '
}
for case in "main.c:main.c " "summary.c:summary.c " "version.h:main.c " "summary.h:main.c summary.c "; do
    file=${case%%:*}
    touch -t 202001010000 main.c summary.c summary.h version.h
    build clean
    build CC="$work/cc" || fail "make failed"
    : > "$CC_LOG"
    sleep 0.05
    touch "$file"
    build CC="$work/cc" || fail "make after a change of $file failed"
    [ "$(compiled)" = "${case#*:}" ] || fail "after a change of $file: compiled $(compiled)"
    grep -qE -- '-o *stats( |$)' "$CC_LOG" || fail "after a change of $file: not linked"
done

# 3. the command line
build clean
: > "$CC_LOG"
build CC="$work/cc" CFLAGS='-O0 -g -DMARK' || fail "make with CFLAGS failed"
grep -E '\.c( |$)' "$CC_LOG" | grep -qv -- '-DMARK' && fail "a file was compiled without CFLAGS"
[ "$(compiled)" = "main.c summary.c " ] || fail "a file was not compiled with CC"

# 4. to 7. the other targets, beside files with their names
: > clean
: > test
build -j4 test || fail "make test failed"
grep -qx 'mean 2.000' "$work/out" || fail "make test does not show the output"
printf '#include <stdlib.h>\nint main(void) { exit(3); }\n' > main.c
build clean
build test && fail "make test passes although the program fails"
cp -p "$work/pristine/main.c" main.c
build clean || fail "make clean failed beside a file of that name"
rm clean test
diff -r "$work/pristine" . > "$work/out" || fail "make clean removed too much or too little"

build install DESTDIR="$work/root" PREFIX=/opt/stats || fail "make install failed"
[ "$(stat -c %a "$work/root/opt/stats/bin/stats")" = 755 ] || fail "the installed program has another mode"
[ "$(printf '5\n' | "$work/root/opt/stats/bin/stats" | head -n 1)" = "n 1" ] || fail "the installed program fails"
build clean
build -j4 install DESTDIR="$work/second" || fail "make install with DESTDIR failed"
[ -x "$work/second/usr/local/bin/stats" ] || fail "PREFIX is not /usr/local by default"

echo "all checks passed"
reward=1
