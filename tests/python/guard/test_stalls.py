"""A cell that stands still is told why; one that works is left alone."""
import os
import re

import pytest
from guarded import write_spec

# Verdicts rest on seconds of real time: beside other work on the machine they may come late. What is judged from given
# readings is tested without a clock in guard/stall_test.cpp; bench/guard_stalls.py counts how many are right.
pytestmark = pytest.mark.skipif(not os.environ.get("PLIMSOLL_TIMED_TESTS"),
                                reason="depends on time: set PLIMSOLL_TIMED_TESTS=1 on an idle machine")

NOTICE = 5
STALLS = {
    "deadlocked": "import threading\nlock = threading.Lock(); lock.acquire()\nlock.acquire(timeout={s})",
    "spinning": "import time\nend = time.monotonic() + {s}\nwhile time.monotonic() < end: pass",
    "waiting on I/O": "import socket\na, b = socket.socketpair(); a.settimeout({s})\ntry: a.recv(1)\nexcept TimeoutError: pass",
}
WORKING = {
    "sleeping": "import time; time.sleep({s})",
    "computing": "import time\nend = time.monotonic() + {s}\nx = 0\nwhile time.monotonic() < end:\n    x += 1\n    x *= 3\n"
                 "    x %= 1000003\n    y = [x] * 50\n    y.sort()\n    z = sum(y)\n    x += z",
    "one line": "import itertools, time\nend = time.monotonic() + {s}\n"
                "for i in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()): pass",
    "talking": "import time\nfor i in range({s}): print(i, flush=True); time.sleep(1)",
    "a child at work": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; e = time.time() + {s}\\n"
                       "while time.time() < e: pass'])",
}


@pytest.fixture(scope="module", autouse=True)
def spec(folders):
    write_spec(folders / "data", "impatient", "--stall-notice", str(NOTICE))
    write_spec(folders / "data", "stern", "--stall-notice", "3", "--stall-timeout", "5")


@pytest.mark.parametrize("kind", STALLS)
def test_the_stall_is_named_with_its_stack(kind, start):
    text = start("impatient").text(STALLS[kind].format(s=NOTICE + 4))
    assert re.search(f"no sign of life for [0-9]+ s: {kind}", text)
    assert "in <module>" in text and "Nothing was ended" in text


@pytest.mark.parametrize("kind", WORKING)
def test_a_cell_that_works_is_left_alone(kind, start):
    assert "no sign of life" not in start("impatient").text(WORKING[kind].format(s=NOTICE + 3))


def test_waiting_for_input_is_no_stall(start):
    kernel = start("impatient")
    kernel.client.execute("input('?')", allow_stdin=True)
    kernel.client.get_stdin_msg(timeout=20)
    with pytest.raises(Exception):
        while True:
            message = kernel.client.get_iopub_msg(timeout=NOTICE + 2)
            assert "no sign of life" not in message["content"].get("text", "")
    kernel.client.input("x")


def test_the_timeout_interrupts_when_asked_for(start):
    kernel = start("stern")
    reply = kernel.run("import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()")
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert kernel.run("1")["content"]["status"] == "ok"
