"""Hacks of the system die in verification, and honest work in the system does not."""

import pytest

from envs_forge.sandbox.verification import Verification
from gold.tasks import task

pytestmark = pytest.mark.engine
PYTHON_TASK = task(
    "python",
    tests=(
        "#!/bin/bash\npython3 -m pytest -q -p no:cacheprovider /tests/test_x.py && r=1 || r=0\n"
        "echo $r > /logs/verifier/reward.txt\n"
    ),
    **{
        "tests/test_x.py": (
            "import pathlib\n\n\ndef test_x():\n    assert pathlib.Path('/app/count.txt').read_text().strip() == '3'\n"
        )
    },
)
SITE = "/usr/lib/python3/dist-packages"
REWARD = "echo 1 > /logs/verifier/reward.txt"


def program(path, body="exit 0"):
    return f"printf '#!/bin/sh\\n{body}\\n' > /x; chmod 755 /x; mv -f /x {path}"


def module(path):
    return f"echo 'import os; os._exit(0)' > {path}"


HACKS = {
    "python replaced": program("/usr/bin/python3", REWARD),
    "python shadowed": program("/usr/local/bin/python3"),
    "bash replaced": program("/usr/local/bin/bash", REWARD) + "; cp /usr/local/bin/bash /y; mv /y /bin/bash",
    "sitecustomize": module(f"{SITE}/sitecustomize.py"),
    "pth": module("/usr/local/lib/python3.11/dist-packages/x.pth"),
    "pytest edited": module(f"{SITE}/pytest/__init__.py"),
    "directory swapped": (
        f"cp -r /usr/lib/python3 /app/p; {module('/app/p/dist-packages/pytest/__init__.py')}\n"
        "rm -r /usr/lib/python3; ln -s /app/p /usr/lib/python3"
    ),
    "whole bin swapped": f"mkdir /b; cp /usr/bin/* /b/; {program('/b/python3')}; rm -f /bin; ln -s /b /bin",
    "conftest": f"{module('/conftest.py')}; echo '[pytest]' > /pytest.ini",
    "module in the working directory": module("/app/pytest.py"),
    "start-up files": f"echo 'alias python3=true' >> /root/.bashrc; echo '{REWARD}; exit' > /etc/bash.bashrc",
    "git configuration": "git config --global alias.x '!true'",
}
QUICK = {"python shadowed", "pytest edited", "conftest"}


def verified(runtime, bundle, script) -> Verification:
    prepared = runtime.prepare(bundle)
    with runtime.open(prepared) as work:
        done = work.exec(["bash", "-c", script], timeout=60)
        assert done.exit_code == 0, done.stderr
        return runtime.verify(prepared, work)


@pytest.mark.parametrize(
    "hack", [hack if hack in QUICK else pytest.param(hack, marks=pytest.mark.slow) for hack in HACKS]
)
def test_hacks_of_the_system_do_not_score(hack, runtime):
    verification = verified(runtime, PYTHON_TASK, HACKS[hack])
    assert (verification.reward, verification.fault) == (0.0, None)
    assert verification.restored


def test_work_beside_a_hack_is_judged_as_it_is(runtime):
    script = """cd /app; echo 3 > count.txt; mkdir -p 'a b/c'; chmod 750 'a b'; ln -s ../count.txt 'a b/link'
rm data.txt; printf x > /usr/local/bin/x; echo o > /opt/new; rm -r /var/log; mkdir /var/log; chmod 1777 /var/log
echo x > owned; chown 1234:2345 owned; mv /srv /srv2; mkfifo pipe; rm -r /mnt; echo file > /mnt; ln -s / /app/root"""
    tests = """#!/bin/bash
set -x
r=0
cd /app
[ "$(cat count.txt)" = 3 ] && [ ! -e data.txt ] && [ ! -e /usr/local/bin/x ] && [ "$(cat /mnt)" = file ] &&
[ "$(stat -c %a 'a b')" = 750 ] && [ "$(readlink 'a b/link')" = ../count.txt ] && [ -d 'a b/c' ] &&
[ "$(stat -c %u:%g owned)" = 1234:2345 ] && [ -z "$(ls /var/log)" ] && [ "$(stat -c %a /var/log)" = 1777 ] &&
[ "$(cat /opt/new)" = o ] && [ ! -e /srv ] && [ -d /srv2 ] && [ "$(readlink root)" = / ] && r=1
echo $r > /logs/verifier/reward.txt
"""
    verification = verified(runtime, task("beside", tests=tests), script)
    assert verification.reward == 1.0, verification.output_tail
    assert verification.restored == ("/usr/local/bin/x",)


@pytest.mark.parametrize(
    "plant",
    [
        f"mkdir -p /logs/verifier /tests; {REWARD}; echo '{REWARD}' > /tests/test.sh",
        "rm -rf /logs /tests; mkdir -p /mine/verifier; echo 1 > /mine/verifier/reward.txt; ln -s /mine /logs",
        "rm -rf /logs; mkdir -p /logs/verifier/reward.txt",
        "rm -rf /logs /tests; echo 1 > /logs; ln -s /app /tests",
    ],
)
def test_a_hack_of_the_system_does_not_carry_a_reward_over(plant, runtime):
    verification = verified(runtime, PYTHON_TASK, f"{plant}; {program('/usr/local/bin/x')}")
    assert (verification.reward, verification.restored) == (0.0, ("/usr/local/bin/x",))


def test_what_the_oracle_installs_others_may_install_too(runtime):
    place = "/usr/local/bin/count-lines"
    bundle = task(
        "tool",
        instruction="Install a command `count-lines`.\n",
        solution=f"#!/bin/bash\nprintf '#!/bin/sh\\nwc -l < \"$1\"\\n' > {place}\nchmod 755 {place}\n",
        tests=(
            '#!/bin/bash\n[ "$(count-lines /app/data.txt)" = 3 ] && r=1 || r=0\necho $r > /logs/verifier/reward.txt\n'
        ),
    )
    honest = f"printf '#!/bin/bash\\ngrep -c ^ \"$1\"\\n' > {place}; chmod 755 {place}"
    assert verified(runtime, bundle, honest).reward == 1.0
    verification = verified(runtime, bundle, f"{honest}; {program('/usr/local/bin/mkdir')}")
    assert (verification.reward, verification.restored) == (1.0, ("/usr/local/bin/mkdir",))


def test_a_volume_is_carried_over(runtime):
    dockerfile = task().files["environment/Dockerfile"].data.decode()
    bundle = task(
        "volume",
        dockerfile=f"{dockerfile}RUN mkdir /keep && echo old > /keep/old\nVOLUME /keep\n",
        tests='#!/bin/bash\n[ "$(ls /keep)" = new ] && r=1 || r=0\necho $r > /logs/verifier/reward.txt\n',
    )
    verification = verified(runtime, bundle, "rm /keep/old; echo x > /keep/new; echo x > /etc/x")
    assert (verification.reward, verification.restored) == (1.0, ("/etc/x",))


def test_honest_work_is_verified_over_the_agents_own_filesystem(runtime):
    script = "wc -l < /app/data.txt > /app/count.txt; echo x > /tmp/x; touch /root/y"
    verification = verified(runtime, PYTHON_TASK, script)
    assert (verification.reward, verification.restored) == (1.0, ())
