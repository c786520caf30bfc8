"""Calls that wait for SECONDS and that a signal would cut short. Each sets `got`; a watch must change neither it nor the time."""

SECONDS = 6

PRELUDE = """
import ctypes, os, select, signal, socket, struct, subprocess, sys, threading, time, queue, json
libc, held = ctypes.CDLL(None, use_errno=True), ctypes.PyDLL(None, use_errno=True)
T = SECONDS
def ts(s=T): return struct.pack("ll", int(s), 0)
def tv(s=T): return struct.pack("ll", int(s), 0)
def until(s=T): return struct.pack("ll", *divmod(time.time_ns() + s * 10**9, 10**9))
def buf(n=256): return ctypes.create_string_buffer(n)
def later(command): return subprocess.Popen(f"sleep {T}; {command}", shell=True)
def pollfd(fd): return struct.pack("ihh", fd, 1, 0)
def c(returned): return returned, ctypes.get_errno() if returned == -1 else 0
r, w = os.pipe()
def lock_in_child():
    p = subprocess.Popen([sys.executable, "-c", f"import fcntl,time; f=open('l','w'); fcntl.flock(f,2); print(1,flush=True); time.sleep({T})"], stdout=subprocess.PIPE)
    p.stdout.readline()
    return open("l")
def feed():
    subprocess.Popen([sys.executable, "-c", f"import os,time; time.sleep({T}); os.write({w}, b'hello')"], pass_fds=[w])
def dripping():
    a, b = socket.socketpair()
    a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, tv())
    return a, b
""".replace("SECONDS", str(SECONDS))

CALLS = {
    "time.sleep": "got = time.sleep(T)",
    "select.select": "got = select.select([r], [], [], T)",
    "select.poll": "p = select.poll(); p.register(r); got = p.poll(T * 1000)",
    "select.epoll": "p = select.epoll(); p.register(r, 1); got = p.poll(T)",
    "os.read of a pipe": "feed(); got = os.read(r, 100)",
    "socket.recv with a timeout": """
a, b = socket.socketpair(); a.settimeout(T)
try: got = a.recv(1)
except TimeoutError as e: got = repr(e)
""",
    "Event.wait": "got = threading.Event().wait(T)",
    "Lock.acquire with a timeout": "l = threading.Lock(); l.acquire(); got = l.acquire(timeout=T)",
    "Queue.get with a timeout": """
try: got = queue.Queue().get(timeout=T)
except queue.Empty: got = "empty"
""",
    "signal.sigtimedwait": "got = signal.sigtimedwait([signal.SIGUSR2], T)",
    "os.waitpid": "p = subprocess.Popen(['sleep', str(T)]); got = os.waitpid(p.pid, 0)[1]",
    "Popen.communicate": "got = subprocess.run(f'sleep {T}; echo x', shell=True, capture_output=True).stdout.decode()",
    "asyncio.sleep": "import asyncio\ngot = await asyncio.sleep(T)",
    "fcntl.flock": "import fcntl\nf = lock_in_child(); got = fcntl.flock(f, 2)",
    "C sleep": "got = c(libc.sleep(T))",
    "C usleep": "got = c(libc.usleep(T * 1_000_000))",
    "C nanosleep": "got = c(libc.nanosleep(ts(), buf()))",
    "C clock_nanosleep": "got = libc.clock_nanosleep(1, 0, ts(), None)",
    "C clock_nanosleep to a time": "got = libc.clock_nanosleep(0, 1, until(), None)",
    "C poll": "got = c(libc.poll(pollfd(r), 1, T * 1000))",
    "C ppoll": "got = c(libc.ppoll(pollfd(r), 1, ts(), None))",
    "C select": "got = c(libc.select(0, None, None, None, tv()))",
    "C pselect": "got = c(libc.pselect(0, None, None, None, ts(), None))",
    "C epoll_wait": "e = libc.epoll_create1(0); got = c(libc.epoll_wait(e, buf(), 4, T * 1000))",
    "C read of a pipe": "feed(); got = c(libc.read(r, buf(), 100))",
    "C recv with SO_RCVTIMEO": "a, b = dripping(); got = c(libc.recv(a.fileno(), buf(), 1, 0))",
    "C accept with SO_RCVTIMEO": """
a = socket.create_server(("127.0.0.1", 0)); a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, tv())
got = c(libc.accept(a.fileno(), None, None))
""",
    "C futex wait": "word = ctypes.c_int(0); got = c(libc.syscall(202, ctypes.byref(word), 128, 0, ts(), None, 0))",
    "C sem_timedwait": "s = buf(); libc.sem_init(s, 0, 0); got = c(libc.sem_timedwait(s, until()))",
    "C sem_clockwait": "s = buf(); libc.sem_init(s, 0, 0); got = c(libc.sem_clockwait(s, 0, until()))",
    "C pthread_cond_timedwait": "m, v = buf(), buf(); libc.pthread_mutex_lock(m); got = libc.pthread_cond_timedwait(v, m, until())",
    "C pthread_mutex_timedlock": "m = buf(); libc.pthread_mutex_lock(m); got = libc.pthread_mutex_timedlock(m, until())",
    "C sigtimedwait": "s = buf(); libc.sigemptyset(s); libc.sigaddset(s, 12); got = c(libc.sigtimedwait(s, None, ts()))",
    "C semtimedop": "i = libc.semget(0, 1, 0o1600); got = c(libc.semtimedop(i, struct.pack('Hhh', 0, -1, 0), 1, ts())); libc.semctl(i, 0, 0)",
    "C waitpid": "p = subprocess.Popen(['sleep', str(T)]); got = c(libc.waitpid(p.pid, None, 0))[1]",
    "C flock": "f = lock_in_child(); got = c(libc.flock(f.fileno(), 2))",
    "C sleep, interpreter's lock held": "got = c(held.sleep(T))",
    "C poll, interpreter's lock held": "got = c(held.poll(pollfd(r), 1, T * 1000))",
    "C nanosleep, interpreter's lock held": "got = c(held.nanosleep(ts(), buf()))",
    "C read, interpreter's lock held": "feed(); got = c(held.read(r, buf(), 100))",
    "C sleep in a thread, joined": """
got = []
t = threading.Thread(target=lambda: got.append(c(libc.sleep(T)))); t.start(); t.join()
""",
    "C sleep while main spins": """
got = []
t = threading.Thread(target=lambda: got.append(c(libc.sleep(T)))); t.start()
while t.is_alive(): pass
""",
    "C poll in an executor, awaited": """
import asyncio
got = await asyncio.get_running_loop().run_in_executor(None, lambda: c(libc.poll(pollfd(r), 1, T * 1000)))
""",
}


def cell(name):
    """The call, printing what it gave and whether it took its time."""
    before = "started = time.monotonic()\n"
    after = "\nprint(json.dumps([repr(got), round(time.monotonic() - started, 1)]))"
    return PRELUDE + before + CALLS[name].strip("\n") + after
