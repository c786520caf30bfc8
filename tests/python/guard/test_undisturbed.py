"""What the watch over stalls does to a cell: nothing. C's waits, which a signal would cut short, go on to their end while
the watch asks where the cell is, and the Python stack is told all the same."""
import pytest
from guarded import write_spec

NOTICE, SECONDS = 2, 4
# A call of C that waits, and what it returns when nothing disturbs it. All run in the main thread.
C = f"""import ctypes, os, select, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
s = {SECONDS}
timespec = struct.pack('qq', s, 0)
timeval = lambda: struct.pack('qq', s, 0)  # select() writes into it
def told(result):
    print('returned', result, 'errno', ctypes.get_errno())
"""
CALLS = {
    "sleep": ("told(libc.sleep(s))", 0, 0),
    "usleep": (f"told(libc.usleep({SECONDS * 10**6}))", 0, 0),
    "nanosleep": ("told(libc.nanosleep(timespec, None))", 0, 0),
    "clock_nanosleep": ("told(libc.clock_nanosleep(1, 0, timespec, None))", 0, 0),
    "poll": ("told(libc.poll(None, 0, s * 1000))", 0, 0),
    "select": ("told(libc.select(0, None, None, None, timeval()))", 0, 0),
    "epoll_wait": ("e = libc.epoll_create1(0); told(libc.epoll_wait(e, ctypes.create_string_buffer(12), 1, s * 1000))", 0, 0),
    "sigtimedwait": ("told(libc.sigtimedwait(struct.pack('QQ', 1 << 9, 0) + bytes(112), None, timespec))", -1, 11),  # EAGAIN
    "semtimedop": ("i = libc.semget(0, 1, 0o1600)\n"
                   "told(libc.semtimedop(i, struct.pack('Hhh', 0, -1, 0), 1, timespec)); libc.semctl(i, 0, 0)", -1, 11),
    "recv with a timeout": ("import socket; a, b = socket.socketpair()\n"
                            "libc.setsockopt(a.fileno(), 1, 20, timeval(), 16)\n"  # SOL_SOCKET, SO_RCVTIMEO
                            "told(libc.recv(a.fileno(), ctypes.create_string_buffer(1), 1, 0))", -1, 11),
}


@pytest.fixture(scope="module", autouse=True)
def spec(folders):
    write_spec(folders / "data", "asking", "--stall-notice", str(NOTICE))
    # The interpreter's lock is waited for longer, and then read without.
    write_spec(folders / "data", "patient", "--stall-notice", "6")


@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_c_is_not_cut_short(name, start):
    code, result, errno = CALLS[name]
    kernel = start("asking")
    kernel.run(C)
    assert f"returned {result} errno {errno}\n" in kernel.text("ctypes.set_errno(0)\n" + code)


WAITS = {
    "a wait of C": ("import ctypes\nctypes.CDLL(None).poll(None, 0, -1)", 2),
    # The flush lets the kernel's own thread say that the cell has begun: without the lock it could not.
    "a wait of C that keeps the interpreter's lock": ("import ctypes\nprint(flush=True)\nctypes.PyDLL(None).poll(None, 0, -1)", 3),
    "a wait of Python in a function": ("import threading\ndef waits():\n    threading.Lock().acquire()\n"
                                       "    l = threading.Lock(); l.acquire(); l.acquire()\nwaits()", 4),
    "many threads": ("import threading\nstop = threading.Event()\nfor _ in range(150):\n"
                     "    threading.Thread(target=stop.wait, daemon=True).start()\nl = threading.Lock(); l.acquire(); l.acquire()", 5),
}


@pytest.mark.parametrize("name", WAITS)
def test_the_line_where_it_waits_is_told(name, start):
    code, line = WAITS[name]
    kernel = start("patient")
    kernel.client.execute(code)
    text = kernel.text_until(" in <module>")
    assert f"line {line} in " in text.split("innermost first")[1].splitlines()[1]


def test_signals_stay_the_programs_own(start):
    """None is sent, none is taken, and what is sent goes where it would."""
    text = start("asking").text(f"""import signal, time
came = []
for s in set(signal.valid_signals()) - {{signal.SIGKILL, signal.SIGSTOP}}:
    try: signal.signal(s, lambda number, frame: came.append(number))
    except OSError: pass
end = time.monotonic() + {SECONDS}
while time.monotonic() < end: pass
print('came', came)""")
    assert "came []" in text
