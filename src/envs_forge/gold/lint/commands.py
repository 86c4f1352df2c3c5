"""What is known about programs that test scripts call."""

from __future__ import annotations

from envs_forge.gold.lint.shell import Command


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


STEADY = _names("""
    : alias awk basename cat cd chmod chown clear cp cut date declare dirname disown echo env export find getent head
    hostname id kill ln local ls mkdir mktemp mv nl nproc od paste pkill popd printf ps pushd pwd read readlink readonly
    realpath rm rmdir sed seq set shift shopt sleep sort split stat stty sync tac tail tee touch tr trap true type
    ulimit umask unalias uname uniq unset wait wc which whoami xargs yes
""")
"""Programs whose failure is no news about the task: they set up, print or copy."""

INSTALLERS = _names("""
    add-apt-repository apk apt apt-get aptitude curl dnf gem git npm pip pip3 pipx pnpm uv wget yarn yum
""")
"""Programs that fetch: their failure is the network's, not the task's."""

RUNNERS = _names("pytest py.test nosetests tox unittest")
INTERPRETERS = _names("bash dash node perl php python python3 ruby sh zsh")

TOOLS = _names("""
    ant bats cargo cmake cmp comm ctest diff dotnet egrep expr false fgrep file g++ gcc go gradle grep gunzip gzip java
    javac jest jq ldd lua make md5sum mocha mvn ninja npx nm openssl psql redis-cli rspec rustc sha1sum sha256sum
    sha512sum sqlite3 ss su sudo tar test timeout unzip uvx valgrind vitest xmllint yq zip zcat
""")
"""Programs that say something about the task, and of which one knows that they write no reward by themselves."""

FLOW = _names("exit return exec eval source . command builtin break continue")
KNOWN = STEADY | INSTALLERS | RUNNERS | INTERPRETERS | TOOLS | FLOW


def is_check(command: Command) -> bool:
    """Whether the command's failure says that the task is not done."""
    return command.name not in STEADY | INSTALLERS | FLOW or runs_pytest(command)


def runs_pytest(command: Command) -> bool:
    """Whether this calls pytest or another runner of Python tests, directly or through another program."""
    return any(word.rsplit("/", 1)[-1] in RUNNERS for word in command.words)


def is_known(command: Command) -> bool:
    """Whether the program is one of which one knows what it writes."""
    return command.name in KNOWN
