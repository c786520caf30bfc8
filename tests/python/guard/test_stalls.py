"""A cell that stands still is told why; one that works is left alone.

What stands still does so until it was told: no test waits for a moment. What is left alone runs until the watch has had time
to speak up several times; a slow machine makes such a test weaker, never wrong. The verdicts on given readings are tested
in guard/stall_test.cpp and stall_watch_test.cpp, by a clock of their own; bench/guard_stalls.py counts how many are right."""
import os
import signal
import time

import pytest
from guarded import write_spec

NOTICE = 3
# All end at a KeyboardInterrupt.
STALLS = {
    "deadlocked": "import threading\nlock = threading.Lock(); lock.acquire()\nlock.acquire()",
    "spinning": "import time\nend = time.monotonic() + 1000\nwhile time.monotonic() < end: pass",
    "deadlocked: native": "import ctypes\nc = ctypes.PyDLL(None)\nc.sleep(1000)",
    # The lock is lost for good while the watch is still asking about what ran before.
    "deadlocked: native, after shorter calls": "import ctypes\nc = ctypes.PyDLL(None)\n"
                                               "for i in range(5): c.usleep(700000)\nc.sleep(1000)",
    "deadlocked: a thread that does its rounds": "import threading, time\nlock = threading.Lock(); lock.acquire(); "
                                                 "threading.Thread(target=lambda: [time.sleep(0.2) for i in range(5000)], "
                                                 "daemon=True).start()\nlock.acquire()",
    "spinning: in a function": "import os\nn = 0\nwhile not os.path.exists('/no/such/file'): pass",
    "waiting on I/O: a FIFO": "import os, tempfile\npath = tempfile.mkdtemp() + '/fifo'; os.mkfifo(path)\nopen(path)",
    "deadlocked: await": "import asyncio\nasync def never():\n    await asyncio.Event().wait()\nawait never()",
    "deadlocked: two processes": "import multiprocessing as mp, os, time\nc = mp.get_context('fork'); a, b = c.Lock(), c.Lock(); "
                                 "f = lambda x, y: (x.acquire(), time.sleep(1), y.acquire()); p, q = c.Process(target=f, args=(a, b)), "
                                 "c.Process(target=f, args=(b, a)); p.start(); q.start()\np.join()",
    "deadlocked: a process that looks for its worker now and then": "import multiprocessing as mp; c = mp.get_context('fork'); lock = c.Lock(); q = c.Queue(); lock.acquire()\n"
                                                                    "p = c.Process(target=lambda: (lock.acquire(), q.put(1)), daemon=True); p.start()\n"
                                                                    "while not q._reader.poll(4): pass",
    "deadlocked: a queue of asyncio whose worker waits too": "import asyncio; q = asyncio.Queue()\nasync def work():\n"
                                                             "    while True: await q.get()\n"
                                                             "t = asyncio.create_task(work()); q.put_nowait(1); await q.join()",
    "deadlocked: await of a future": "import asyncio\nasync def never(f):\n    await f\nawait never(asyncio.get_running_loop().create_future())",
    "deadlocked: await of a thread that waits": "import asyncio, queue\nq = queue.Queue()\nasync def never(): await asyncio.get_running_loop().run_in_executor(None, q.get)\n"
                                                "await never()",
    "deadlocked: both ends of a connection": "import socket\na, b = socket.socketpair()\na.recv(1)",
    "deadlocked: a pool whose workers end as they start": "import multiprocessing as mp, os\npool = mp.get_context('fork').Pool(2, os._exit, (1,))\npool.apply(abs, (1,))",
    "stopped: a worker of a pool": "import multiprocessing as mp, os, signal\npool = mp.get_context('fork').Pool(1); os.kill(pool._pool[0].pid, signal.SIGSTOP)\npool.map(abs, [1])",
    "waiting on I/O": "import socket\ns = socket.create_server(('127.0.0.1', 0))\ns.accept()",
}
WORKING = {
    "sleeping": "import time; time.sleep({s})",
    "computing": "import time\nend = time.monotonic() + {s}\nx = 0\nwhile time.monotonic() < end:\n    x += 1\n    x *= 3\n"
                 "    x %= 1000003\n    y = [x] * 50\n    y.sort()\n    z = sum(y)\n    x += z",
    "one line": "import itertools, time\nend = time.monotonic() + {s}\n"
                "for i in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()): pass",
    "native code": "import numpy, time\na = numpy.ones((500, 500)); b = a.copy(); end = time.monotonic() + {s}\n"
                   "while time.monotonic() < end: numpy.matmul(a, a, out=b)",
    "talking": "import time\nfor i in range({s}): print(i, flush=True); time.sleep(1)",
    "awaiting a sleep": "import asyncio\nasync def f():\n    await asyncio.sleep({s})\nawait f()",
    "a task that sleeps": "import asyncio\nasync def f():\n    await asyncio.sleep({s})\nawait asyncio.create_task(f())",
    "a thread that sleeps": "import threading, time\nt = threading.Thread(target=time.sleep, args=({s},)); t.start(); t.join()",
    "a pool that sleeps": "import concurrent.futures as c, time\nwith c.ThreadPoolExecutor(2) as p: list(p.map(time.sleep, [{s}, {s}]))",
    "an event that a timer sets": "import threading\ne = threading.Event(); threading.Timer({s}, e.set).start(); e.wait()",
    "a sleeping thread, awaited": "import asyncio, time\nawait asyncio.to_thread(time.sleep, {s})",
    "threads of an executor that sleep, awaited together": "import asyncio, time, concurrent.futures as c\nl = asyncio.get_running_loop()\n"
                                                           "with c.ThreadPoolExecutor(1) as e: await asyncio.gather(*(l.run_in_executor(e, time.sleep, 4) for i in range({s} // 3)))",
    "an event of asyncio that its loop sets later": "import asyncio\ne = asyncio.Event(); asyncio.get_running_loop().call_later({s}, e.set); await e.wait()",
    "a timer that starts the next": "import threading\ne, n = threading.Event(), 0\ndef tick():\n    global n\n    n += 1\n"
                                    "    e.set() if n == {s} else threading.Timer(1, tick).start()\ntick()\ne.wait()",
    "a pool whose workers end after each task": "import multiprocessing as mp, time\nwith mp.get_context('fork').Pool(2, maxtasksperchild=1) as pool: pool.map(time.sleep, [0.2] * 5 * {s}, chunksize=1)",
    "an alarm clock": "import signal\nsignal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, {s}); signal.pause()",
    "a timer that is read": "import ctypes, os, struct\nlibc = ctypes.CDLL(None)\nfd = libc.timerfd_create(1, 0)\n"
                            "libc.timerfd_settime(fd, 0, struct.pack('qqqq', 0, 0, {s}, 0), None)\nos.read(fd, 8)",
    "a loop that looks for messages": "import socket, time\ns = socket.create_server(('127.0.0.1', 0)); s.settimeout(1); end = time.time() + {s}\n"
                                      "while time.time() < end:\n    try: s.accept()\n    except TimeoutError: pass",
    "a server of its own that thinks": "import socket, threading, time\na, b = socket.socketpair()\n"
                                       "threading.Thread(target=lambda: (time.sleep({s}), b.send(b'x'))).start()\na.recv(1)",
    "an event with a limit": "import threading\nthreading.Event().wait({s})",
    "a shell that sleeps": "import subprocess\nsubprocess.run('sleep {s}; true', shell=True)",
    "short children": "import subprocess, sys, time\nend = time.time() + {s}\nwhile time.time() < end: "
                      "subprocess.run([sys.executable, '-c', 'sum(range(3000000))'])",
    "a socket that drips": "import socket, threading, time\na, b = socket.socketpair()\ndef drip():\n"
                           "    for i in range({s}): time.sleep(0.7); b.send(b'x')\n    b.close()\n"
                           "threading.Thread(target=drip).start()\nwhile a.recv(1): pass",
    "a long regular expression": "import re, time\nend = time.time() + {s}\nwhile time.time() < end: re.match(r'(a+)+b', 'a' * 24)",
    "a thread at work that keeps the interpreter's lock": "import re, threading, time\ndef work():\n    end = time.time() + {s}\n"
                                                          "    while time.time() < end: re.match(r'(a+)+b', 'a' * 27)\n"
                                                          "t = threading.Thread(target=work); t.start()\nwhile t.is_alive(): time.sleep(2)",
    "native code that keeps the interpreter's lock and has others work": "import ctypes, hashlib, threading, time\ndef work(): hashlib.pbkdf2_hmac('sha256', b'', b'', {s} * 3 * 10**6)\n"
                                                                         "t = threading.Thread(target=work); t.start(); time.sleep(1)\nctypes.PyDLL(None).sleep({s})\nt.join()",
    "a child at work": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; e = time.time() + {s}\\n"
                       "while time.time() < e: pass'])",
}


@pytest.fixture(scope="module", autouse=True)
def spec(folders):
    write_spec(folders / "data", "impatient", "--stall-notice", str(NOTICE))
    write_spec(folders / "data", "stern", "--stall-notice", "3", "--stall-timeout", "5")


@pytest.mark.parametrize("kind", STALLS)
def test_the_stall_is_named_with_its_stack(kind, start):
    kernel = start("impatient")
    asked = kernel.client.execute(STALLS[kind])
    text = kernel.text_until("Nothing was ended")
    assert f" s: {kind.split(':')[0]}. " in text
    if "native" in kind:
        return  # it cannot be interrupted, and frames that are read without the lock may be out of reach
    assert ("line 4 in <module>" if "await" in STALLS[kind] else "line 3 in <module>") in text
    if "await" in STALLS[kind]:
        return  # ipykernel does not interrupt it
    kernel.manager.interrupt_kernel()
    assert kernel.reply_to(asked)["ename"] in ("KeyboardInterrupt", "CancelledError")


def test_a_stopped_process_is_called_so(start):
    kernel = start("impatient")
    pid = int(kernel.text("import os; print(os.getpid())"))
    kernel.client.execute("import time; time.sleep(1000)")
    os.kill(pid, signal.SIGSTOP)
    assert " s: stopped. " in kernel.text_until("Nothing was ended")
    os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("kind", WORKING)
def test_a_cell_that_works_is_left_alone(kind, start):
    assert "no sign of life" not in start("impatient").text(WORKING[kind].format(s=2 * NOTICE))


def test_waiting_for_input_is_no_stall(start):
    kernel = start("impatient")
    client = kernel.client
    asked = client.execute("input('?')", allow_stdin=True)
    client.get_stdin_msg(timeout=120)
    time.sleep(2 * NOTICE)  # what is said meanwhile comes before what follows the input
    client.input("x")
    text = ""
    while True:
        message = client.get_iopub_msg(timeout=120)
        text += message["content"].get("text", "")
        if message["parent_header"].get("msg_id") == asked and message["content"].get("execution_state") == "idle":
            break
    assert "no sign of life" not in text


def test_the_timeout_interrupts_when_asked_for(start):
    kernel = start("stern")
    reply = kernel.run("import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()")
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert kernel.run("1")["content"]["status"] == "ok"
