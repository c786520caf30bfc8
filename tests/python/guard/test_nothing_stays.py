"""However the guard goes, what its kernel started goes too, as with a kernel that Jupyter itself started."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from guarded import GUARD, children, state

# One process of each sort; the last has a session of its own, and lives on in a plain kernel too.
START = """import multiprocessing, os, subprocess, time
worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(1000,))
worker.start()
sleeper = subprocess.Popen(["sleep", "1000"])
shell = subprocess.Popen(["sh", "-c", "trap '' HUP INT TERM; sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
apart = subprocess.Popen(["sleep", "1000"], start_new_session=True)
print("started", os.getpid(), worker.pid, sleeper.pid, shell.pid, int(shell.stdout.readline()), apart.pid, flush=True)
"""


def alive(pid):
    return state(pid) not in ("", "Z", "X")  # who adopts a process may be slow to ask how it ended


def wait_until(holds):
    end = time.monotonic() + 30
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


@pytest.fixture
def started():
    """Waits for the word of what was started, and ends what is left of it with the test."""
    pids = []

    def parse(text):
        pids[:] = [int(word) for word in text.split("started")[1].split()[:6]]
        assert all(alive(pid) for pid in pids)
        return pids[:-1], pids[-1]

    yield parse
    for pid in pids:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def shut_down(kernel):
    kernel.manager.shutdown_kernel(now=True)


def restart(kernel):
    kernel.manager.restart_kernel(now=True)


def kill_the_guard_alone(kernel):
    os.kill(kernel.pid, signal.SIGKILL)


def end_in_order(kernel):
    kernel.manager.shutdown_kernel()


@pytest.mark.parametrize("name, end", [
    ("python3", shut_down), ("guarded", shut_down), ("python3", restart), ("guarded", restart),
    ("guarded", kill_the_guard_alone), ("guarded", end_in_order),
], ids=lambda v: getattr(v, "__name__", v))
def test_what_a_kernel_started_ends_with_it(name, end, start, started):
    kernel = start(name)
    group, apart = started(kernel.text(START))
    end(kernel)
    assert wait_until(lambda: not any(map(alive, group))), [state(pid) for pid in group]
    assert alive(apart)


def test_so_it_is_with_each_new_kernel_of_a_guard(start, started):
    kernel = start()
    guard = kernel.pid
    for _ in range(3):
        group, apart = started(kernel.text(START))
        kernel.run("import os; os._exit(1)")
        assert wait_until(lambda: not any(map(alive, group)))
        os.kill(apart, signal.SIGKILL)
    group, apart = started(kernel.text(START))
    # The kernel and the one that watches, none of them left over from an earlier kernel.
    assert len(children(guard)) == 2 and group[0] in children(guard)
    assert "Z" not in map(state, children(guard))
    shut_down(kernel)
    assert wait_until(lambda: not any(map(alive, group)))
    assert not any(pid for pid in children(guard))


def watcher_of(kernel):
    own = int(kernel.text("import os; print(os.getpid())"))
    (watcher,) = set(children(kernel.pid)) - {own}
    return own, watcher


def test_the_watcher_keeps_out_of_the_way(start):
    kernel = start()
    own, watcher = watcher_of(kernel)
    # Nothing of the guard's or of Jupyter's is held open by it: ports, the terminal, the lock of the folder.
    assert len(list(pathlib.Path(f"/proc/{watcher}/fd").iterdir())) == 1
    # In the kernel's group, that number can be nobody else's while it is there.
    assert os.getpgid(watcher) == own
    # Signals to the group are the kernel's affair.
    kernel.run("import os, signal\nfor s in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT): signal.signal(s, signal.SIG_IGN)")
    kernel.run("for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT): os.killpg(0, s)")
    kernel.manager.interrupt_kernel()
    assert kernel.text("print(6 * 7)") == "42\n" and alive(watcher)
    # The kernel goes; so does it, and nothing is left to be waited for.
    kernel.run("os._exit(1)")
    assert kernel.text("print(6 * 7)") == "42\n"
    assert state(watcher) == "" and len(children(kernel.pid)) == 2


def test_a_kernel_whose_watcher_was_killed_goes_on(start):
    kernel = start()
    _, watcher = watcher_of(kernel)
    os.kill(watcher, signal.SIGKILL)
    assert kernel.text("print(6 * 7)") == "42\n"
    kernel.run("import os; os._exit(1)")
    assert kernel.text("print(6 * 7)") == "42\n"
    assert len(children(kernel.pid)) == 2 and "Z" not in map(state, children(kernel.pid))


def test_what_a_script_started_ends_with_its_guard(started):
    code = START + "time.sleep(1000)\n"
    guard = subprocess.Popen([str(GUARD), "--", sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    group, apart = started(guard.stdout.readline())
    guard.kill()
    assert guard.wait() == -signal.SIGKILL
    assert wait_until(lambda: not any(map(alive, group)))
    assert alive(apart)
