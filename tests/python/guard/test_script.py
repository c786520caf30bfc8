"""`plimsoll guard -- command`: the line, the note and the exit status, without Jupyter."""
import subprocess
import sys

import pytest
from guarded import GUARD
from deaths import CHURN, LOAD


def guard(code, *options):
    command = [str(GUARD), *options, "--", sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("status", [0, 3])
def test_exit_status_and_output_are_kept(status):
    done = guard(f"import sys; print('out'); print('err', file=sys.stderr); sys.exit({status})")
    assert (done.returncode, done.stdout, done.stderr) == (status, "out\n", "err\n")


def test_death_is_explained_and_the_signal_kept():
    done = guard(LOAD + "lib.crash_segfault()")
    assert done.returncode == 128 + 11
    assert "a null pointer, in effect" in done.stderr and "plimsoll report" in done.stderr


def test_the_line_is_named_while_other_threads_run_on():
    for _ in range(10):
        done = guard(CHURN + LOAD + "def broken():\n  lib.crash_segfault()\nbroken()")
        assert "  <string> line 9 in broken\n" in done.stderr and "  <string> line 10 in <module>\n" in done.stderr


def test_a_request_over_the_line_is_a_memory_error():
    code = "try:\n  x = bytearray(1 << 30)\nexcept MemoryError:\n  print('caught')\nprint('goes on')"
    done = guard(code, "--memory", "300MiB")
    assert done.returncode == 0 and done.stdout == "caught\ngoes on\n"
    assert "a request for 1.0 GiB was refused" in done.stderr


REFUSED_AGAIN_AND_AGAIN = """def reads(): return int(open('/proc/self/io').read().split('syscr: ')[1].split()[0])
before = reads()
for _ in range(2000):
  try: bytearray(1 << 30)
  except MemoryError: pass
# Two readings of memory for each, the second without the pages of files.
print('cheap', reads() - before <= 2 * 2000 + 10)
"""


def test_a_program_that_asks_on_costs_two_readings_each_time():
    done = guard(REFUSED_AGAIN_AND_AGAIN, "--memory", "300MiB")
    assert done.returncode == 0 and done.stdout == "cheap True\n"
    assert "requests were refused" in done.stderr


def test_creep_by_small_arrays_is_stopped():
    code = "x = []\ntry:\n  while True: x.append(bytearray(100_000))\nexcept MemoryError:\n  print('caught', len(x) > 1000)"
    done = guard(code, "--memory", "200MiB")
    assert done.returncode == 0 and done.stdout == "caught True\n"


def test_a_program_that_is_not_there():
    done = subprocess.run([str(GUARD), "--", "/no/such/program"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 127 and "cannot run /no/such/program" in done.stderr
