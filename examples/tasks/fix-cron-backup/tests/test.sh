#!/bin/bash
# Runs the table's entry the way cron would, on directories of its own, and looks at what is left.

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
    exit 1
}

# cron_load: read /app/crontab into the arrays `settings` (NAME=value) and `entries` (schedule and command).
cron_load() {
    settings=(HOME=/root LOGNAME=root SHELL=/bin/sh PATH=/usr/bin:/bin)
    entries=()
    cron_shell=/bin/sh
    local line name value
    while IFS= read -r line || [ -n "$line" ]; do
        if [[ $line =~ ^[[:space:]]*(#|$) ]]; then
            continue
        elif [[ $line =~ ^[[:space:]]*([A-Za-z_][A-Za-z_0-9]*)[[:space:]]*=[[:space:]]*(.*)$ ]]; then
            name=${BASH_REMATCH[1]}
            value=${BASH_REMATCH[2]}
            value=${value%"${value##*[![:space:]]}"}
            case $value in
                \"*\") value=${value#\"} value=${value%\"} ;;
                \'*\') value=${value#\'} value=${value%\'} ;;
            esac
            settings+=("$name=$value")
            [ "$name" = SHELL ] && cron_shell=$value
        else
            entries+=("$line")
        fi
    done < /app/crontab
}

# cron_run: run the only entry; an unescaped % ends the command.
cron_run() {
    local command
    command=$(printf '%s\n' "${entries[0]}" | sed -E 's/^[[:space:]]*([^[:space:]]+[[:space:]]+){5}//' |
        sed -e 's/\\%/\x01/g' -e 's/%.*//' -e 's/\x01/%/g')
    (cd /root && timeout 30 env -i "${settings[@]}" "$cron_shell" -c "$command" < /dev/null)
}

settings_file() {
    printf 'NOTES_DIR="%s"\nBACKUP_DIR="%s"\nKEEP=%s\n' "$1" "$2" "$3" > /app/.env
}

cron_load
[ ${#entries[@]} -eq 1 ] || fail "the table has ${#entries[@]} entries"
read -r m h dom mon dow _ <<< "${entries[0]}"
[ "$m $h $dom $mon $dow" = "30 2 * * *" ] || fail "the schedule is $m $h $dom $mon $dow"

# A set of notes with awkward names, and archives whose file times contradict the dates in their names.
notes="$work/some notes"
store="$work/the store"
mkdir -p "$notes/deep/er" "$store"
printf 'one\n' > "$notes/plain.txt"
printf 'two\n' > "$notes/deep/er/with space.txt"
printf 'three\n' > "$notes/.dot"
printf 'four\n' > "$notes/deep/.also hidden"
stamp=0
for date in 2021-03-05 2021-03-04 2020-12-31 2021-01-01 2019-06-30; do
    echo "$date" > "$store/notes-$date.tar.gz"
    touch -d "2022-01-01 00:00:0$stamp" "$store/notes-$date.tar.gz"
    stamp=$((stamp + 1))
done
echo precious > "$store/README"
echo precious > "$store/notes-old.tar.gz"
echo precious > "$store/contacts-2021-01-01.tar.gz"

settings_file "$notes" "$store" 3
before=$(date +%Y-%m-%d)
cron_run
after=$(date +%Y-%m-%d)
today=
for day in "$before" "$after"; do
    [ -s "$store/notes-$day.tar.gz" ] && today=$day
done
[ -n "$today" ] || fail "no archive for today"
archive=$store/notes-$today.tar.gz

mkdir "$work/unpacked"
tar -xzf "$archive" -C "$work/unpacked" || fail "the archive cannot be unpacked"
diff -r "$notes" "$work/unpacked" || fail "the archive does not hold the notes"

kept=$(cd "$store" && ls -A | sort | tr '\n' ' ')
wanted=$(printf '%s\n' README contacts-2021-01-01.tar.gz notes-old.tar.gz \
    notes-2021-03-04.tar.gz notes-2021-03-05.tar.gz "notes-$today.tar.gz" | sort | tr '\n' ' ')
[ "$kept" = "$wanted" ] || fail "left in the store: $kept; wanted: $wanted"
[ "$(cat "$store/README" "$store/notes-old.tar.gz")" = "$(printf 'precious\nprecious')" ] || fail "other files changed"

log=/app/logs/backup-$(echo "${today%-*}" | tr -d -).log
[ "$(tail -n 1 "$log" 2> /dev/null)" = "backup $archive done" ] || fail "last line of $log: $(tail -n 1 "$log")"
lines=$(wc -l < "$log")

# Again on the same day, into the same place, with a note less and one more.
rm "$notes/plain.txt"
printf 'five\n' > "$notes/late.txt"
cron_run
rm -rf "$work/unpacked" && mkdir "$work/unpacked"
tar -xzf "$archive" -C "$work/unpacked" || fail "the second archive cannot be unpacked"
diff -r "$notes" "$work/unpacked" || fail "the second run did not replace the archive"
[ "$(wc -l < "$log")" -gt "$lines" ] || fail "the log of the second run was not appended"

# A store that does not exist yet.
settings_file "$notes" "$work/new/store" 2
cron_run
[ "$(ls "$work/new/store" 2> /dev/null | wc -l)" -eq 1 ] || fail "BACKUP_DIR was not made"

# Notes that are not there: an error, and nothing lost.
rm "$archive"
listing=$(ls -A "$store")
settings_file "$work/nowhere" "$store" 1
(cd /root && env -i HOME=/root PATH=/usr/bin:/bin /app/bin/backup-notes.sh > /dev/null 2>&1 < /dev/null) &&
    fail "status 0 although NOTES_DIR does not exist"
[ "$(ls -A "$store")" = "$listing" ] || fail "the store changed although NOTES_DIR does not exist"

echo "all checks passed"
reward=1
