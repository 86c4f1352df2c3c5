"""What is known about programs that test scripts call."""

from __future__ import annotations

from envs_forge.gold.lint.shell import Command

STEADY = frozenset(
    ": [ alias awk basename bash-completion cat cd chmod chown clear cp cut date declare dirname disown echo env export "
    "find getent head hostname id kill ln local ls mkdir mktemp mv nl nproc od paste pkill popd printf ps pushd pwd read "
    "readlink readonly realpath rm rmdir sed seq set shift shopt sleep sort split stat stty sync tac tail tee "
    "touch tr true trap type ulimit umask unalias uname uniq unset wait wc which whoami xargs yes".split()
) - {"["}
"""Programs whose failure is no news about the task: they set up, print or copy."""

INSTALLERS = frozenset(
    "add-apt-repository apk apt apt-get aptitude curl dnf gem git npm pip pip3 pipx pnpm uv wget yarn yum".split()
)
"""Programs that fetch: their failure is the network's, not the task's."""

RUNNERS = frozenset("pytest py.test nosetests tox unittest".split())
INTERPRETERS = frozenset("bash dash node perl php python python3 ruby sh zsh".split())

TOOLS = frozenset(
    "ant bats cargo cmake cmp comm ctest curl diff dotnet egrep expr false fgrep file g++ gcc go gradle grep gunzip gzip "
    "java javac jest jq kotlinc ldd lua make md5sum mocha mvn ninja npx nm node openssl perl php psql redis-cli rspec "
    "rustc sha1sum sha256sum sha512sum sqlite3 ss sudo su tar test timeout unzip uvx valgrind vitest xmllint yq zip zcat"
    .split()
)
"""Programs that say something about the task, and of which one knows that they write no reward by themselves."""

ASSIGNED = frozenset("exit return exec eval source . command builtin break continue".split())
KNOWN = STEADY | INSTALLERS | RUNNERS | INTERPRETERS | TOOLS | ASSIGNED


def is_check(command: Command) -> bool:
    """Whether the command's failure says that the task is not done."""
    return command.name not in STEADY | INSTALLERS | ASSIGNED or runs_pytest(command)


def runs_pytest(command: Command) -> bool:
    """Whether this calls pytest or another runner of Python tests, directly or through another program."""
    return any(word.rsplit("/", 1)[-1] in RUNNERS for word in command.words)


def is_known(command: Command) -> bool:
    """Whether the program is one of which one knows what it writes."""
    return command.name in KNOWN
