"""Which changes are made to solutions, and that each of them leaves a program that still parses."""

import ast
import subprocess

import pytest

from envs_forge.gold.mutants.choose import choose, mutations_of
from envs_forge.gold.mutants.mutation import Operator
from envs_forge.gold.mutants.python import python_mutations
from envs_forge.gold.mutants.shell import shell_mutations

from ..tasks import task

SCRIPT = b"""#!/bin/bash
set -euo pipefail
cd /app
LIMIT=5
if [ "$LIMIT" -gt 3 ] && [[ $MODE == fast ]]; then
  sort -rn -k2 in.txt | uniq -c | head -n 10 > out.txt
fi
for f in *.log; do
  grep ERROR "$f" >> all.txt
done
awk '$3 > 100 { print $1 }' data.csv | sort > big.txt
sed -i 's/old/new/g' config.ini
echo "port=8080" > port.txt
echo starting
sleep 1
sqlite3 x.db 'delete from t where n >= 7'
python3 - <<'EOF'
import json

rows = sorted((r for r in json.load(open("a.json")) if r["n"] >= 3 and r["ok"]), reverse=True)
json.dump(rows, open("b.json", "w"), indent=2)
EOF
python3 -c 'open("c", "w").write(str(1 + 2))'
cat > job.sh <<'EOF'
#!/bin/sh
rm -f stale.txt
test "$1" = on && touch flag
EOF
cat > table.conf <<EOF
# a comment
alpha = 10
beta = 20
EOF
"""


def made(script=SCRIPT):
    return {
        (change.operator, script[change.start : change.end].decode(), change.new.decode())
        for change in shell_mutations(script)
    }


@pytest.mark.parametrize(
    "change",
    [
        (Operator.COMPARISON, "-gt", "-ge"),
        (Operator.COMPARISON, "==", "!="),
        (Operator.COMPARISON, ">", ">="),
        (Operator.COMPARISON, ">=", ">"),
        (Operator.COMPARISON, "and", "or"),
        (Operator.COMPARISON, "=", "!="),
        (Operator.CONSTANT, "10", "11"),
        (Operator.CONSTANT, "100", "101"),
        (Operator.CONSTANT, "7", "8"),
        (Operator.CONSTANT, "3", "(3 + 1)"),
        (Operator.CONSTANT, "1", "(1 + 1)"),
        (Operator.ORDER, "-rn", "-n"),
        (Operator.ORDER, "-rn", "-r"),
        (Operator.ORDER, "True", "False"),
        (Operator.REDIRECT, ">>", ">"),
        (Operator.DROP_FILTER, " | uniq -c", ""),
        (Operator.DROP_FILTER, " | sort", ""),
        (Operator.DROP_COMMAND, "sed -i 's/old/new/g' config.ini", ":"),
        (Operator.DROP_COMMAND, 'grep ERROR "$f" >> all.txt', ":"),
        (Operator.DROP_COMMAND, "rm -f stale.txt", ":"),
        (Operator.DROP_COMMAND, 'json.dump(rows, open("b.json", "w"), indent=2)', "pass"),
        (Operator.DROP_LINE, "alpha = 10\n", ""),
        (Operator.TEXT, "g", ""),
    ],
)
def test_meaningful_pieces_are_changed(change):
    assert change in made()


def test_what_says_nothing_is_left_alone():
    changed = {old for _, old, _ in made()}
    assert not changed & {"cd /app", "sleep 1", "echo starting", "set -euo pipefail", "# a comment\n"}


def test_every_mutant_still_parses():
    for change in shell_mutations(SCRIPT):
        mutant = SCRIPT[: change.start] + change.new + SCRIPT[change.end :]
        done = subprocess.run(["bash", "-n"], input=mutant, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), change


def test_python_with_unicode_before_the_place():
    source = 'name = "größe"; limit = 3 if name < "z" else 4  # ünïcode\n'.encode()
    mutants = [source[: c.start] + c.new + source[c.end :] for c in python_mutations(source)]
    assert {mutant.decode().partition("limit = ")[2].partition("  #")[0] for mutant in mutants} == {
        '3 if name <= "z" else 4',
        '(3 + 1) if name < "z" else 4',
        '3 if name < "z" else (4 + 1)',
    }
    for mutant in mutants:
        ast.parse(mutant)


@pytest.mark.parametrize("source", [b"def f(:\n", b"\x00\xff", b"(" * 5000, b"", b"if x\n"])
def test_code_that_is_none_has_no_mutants(source):
    assert list(python_mutations(source)) == []
    list(shell_mutations(source))


def test_a_choice_is_stable_and_takes_every_kind():
    bundle = task(solution=SCRIPT.decode(), **{"solution/more.py": "print(1 < 2)\n"})
    every = mutations_of(bundle)
    chosen = choose(every, 12)
    assert chosen == choose(list(reversed(every)), 12)
    assert {change.operator for change in chosen} == set(Operator)
    assert any(change.file == "solution/more.py" for change in every)
    assert len(choose(every, 10_000)) == len(every)


def test_a_mutation_knows_its_place_and_changes_one_file():
    bundle = task(solution=SCRIPT.decode())
    change = next(c for c in mutations_of(bundle) if c.old == b"-gt")
    assert str(change) == "solution/solve.sh:5: comparison: '-gt' → '-ge'"
    mutant = change.apply(bundle)
    assert mutant.files["solution/solve.sh"].data == SCRIPT.replace(b"-gt", b"-ge")
    assert {path for path in mutant.files if mutant.files[path] != bundle.files[path]} == {"solution/solve.sh"}


def test_rows_of_a_query_come_in_another_order():
    script = b"sqlite3 x.db 'select a from t order by a' 'select b from t ORDER BY b DESC limit 3' 'select 1'\n"
    found = {(old, new) for operator, old, new in made(script) if operator is Operator.ORDER}
    assert found == {("", " DESC"), ("DESC", "ASC")}
