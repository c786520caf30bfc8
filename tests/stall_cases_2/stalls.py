"""Cells that will never go on by themselves: {name: (code, words that a right notice has, what it waits for)}.

The first line of a right notice has one of the words, and below it stands the line of the cell that is marked LINE."""

STALLS = {
    "queue_whose_worker_died": ("""
import queue, threading
q = queue.Queue()
def worker():
    sum(range(1000))
threading.Thread(target=worker).start()
item = q.get()  # LINE
""", r"deadlock|lock|queue|thread", "a queue that no thread fills any more"),
    "condition_never_notified": ("""
import threading
ready = threading.Condition()
with ready:
    ready.wait()  # LINE
""", r"deadlock|lock|condition", "a condition that nobody notifies"),
    "pool_whose_worker_was_killed": ("""
import multiprocessing as mp, os
def f(i):
    if i == 3:
        os._exit(1)
    return i
with mp.get_context("fork").Pool(2) as pool:
    out = pool.map(f, range(8))  # LINE
""", r"deadlock|lock|wait|process", "the answer of a worker that is gone"),
    "child_forked_while_a_lock_was_held": ("""
import multiprocessing as mp, threading, time
lock = threading.Lock()
def hold():
    with lock:
        time.sleep(2)
def child():
    with lock:
        pass
threading.Thread(target=hold).start()
time.sleep(0.5)
p = mp.get_context("fork").Process(target=child)
p.start()
p.join()  # LINE
""", r"deadlock|lock|wait|process|child", "a child that waits for a lock nobody can free"),
    "two_locks_in_two_orders": ("""
import threading, time
a, b = threading.Lock(), threading.Lock()
def first():
    with a:
        time.sleep(1)
        with b: pass
def second():
    with b:
        time.sleep(1)
        with a: pass
ts = [threading.Thread(target=f) for f in (first, second)]
[t.start() for t in ts]
for t in ts:
    t.join()  # LINE
""", r"deadlock|lock", "two threads, each holding the other's lock"),
    "accept_without_a_client": ("""
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0)); s.listen()
conn, _ = s.accept()  # LINE
""", r"I/O|socket|network|connection|accept", "a client that never comes"),
    "server_that_never_answers": ("""
import socket, threading, urllib.request
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
kept = []
threading.Thread(target=lambda: kept.append(s.accept()), daemon=True).start()
urllib.request.urlopen(f"http://127.0.0.1:{s.getsockname()[1]}/model.h5").read()  # LINE
""", r"I/O|socket|network|connection", "an answer over the network"),
    "wait_on_a_child_whose_pipe_is_full": ("""
import subprocess, sys
p = subprocess.Popen([sys.executable, "-c", "print('x' * 10**6)"], stdout=subprocess.PIPE)
p.wait()  # LINE
""", r"pipe|I/O|process|child|deadlock", "a child that waits until its output is read"),
    "shell_that_reads_a_fifo": ("""
import os, subprocess, tempfile
path = os.path.join(tempfile.mkdtemp(), "fifo"); os.mkfifo(path)
subprocess.run(["bash", "-c", f"read line < {path}"])  # LINE
""", r"I/O|pipe|FIFO|process|child", "a child that opens a FIFO nobody writes to"),
    "file_lock_of_another_process": ("""
import fcntl, subprocess, sys, tempfile, time
path = tempfile.mktemp()
p = subprocess.Popen([sys.executable, "-c", f"import fcntl, signal; f = open({path!r}, 'w'); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); signal.pause()"],
                     stdout=subprocess.PIPE)
p.stdout.readline()
fcntl.flock(open(path, "w"), fcntl.LOCK_EX)  # LINE
""", r"lock", "a file lock that another process holds"),
    "sqlite_locked": ("""
import sqlite3, tempfile
path = tempfile.mktemp()
a = sqlite3.connect(path, isolation_level=None); a.execute("create table t (x)"); a.execute("begin exclusive")
b = sqlite3.connect(path, timeout=100000)
b.execute("insert into t values (1)")  # LINE
""", r"lock|database", "a database locked by a connection of the same cell"),
    "event_of_asyncio_never_set": ("""
import asyncio
done = asyncio.Event()
async def wait_for_it():
    await done.wait()  # LINE
await wait_for_it()
""", r"deadlock|event|no task|nobody", "an event that no task sets"),
    "asyncio_lock_taken_twice": ("""
import asyncio
lock = asyncio.Lock()
async def inner():
    async with lock:  # LINE
        return 1
async with lock:
    await inner()
""", r"deadlock|lock", "its own asyncio.Lock"),
    "spin_on_a_flag": ("""
import threading
ready = False
def work():
    global ready_
    ready_ = True
threading.Thread(target=work).start()
while not ready:  # LINE
    pass
""", r"spin", "a flag that nobody sets"),
    "spin_on_an_empty_queue": ("""
import queue
q = queue.Queue()
while q.empty(): pass  # LINE
""", r"spin", "a queue that stays empty"),
    "loop_whose_counter_does_not_move": ("""
i, n = 0, 10
while i < n:  # LINE
    j = i + 1
""", r"spin", "a counter that is not counted up"),
    "joined_thread_reads_an_empty_pipe": ("""
import os, threading
r, w = os.pipe()
t = threading.Thread(target=lambda: os.read(r, 1), daemon=True)
t.start()
t.join()  # LINE
""", r"deadlock|I/O|pipe|lock|thread", "a pipe nobody writes to"),
    "task_that_waits_for_its_own_pool": ("""
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def outer():
    return pool.submit(pow, 2, 3).result()
result = pool.submit(outer).result()  # LINE
""", r"deadlock|lock", "a task that its own thread would have to run"),
    "join_before_the_queue_is_read": ("""
import multiprocessing as mp
ctx = mp.get_context("fork")
q = ctx.Queue()
def child():
    q.put(bytes(10**7))
p = ctx.Process(target=child)
p.start()
p.join()  # LINE
""", r"pipe|I/O|process|child|deadlock|lock|wait", "a child that waits until its queue is read"),
    "barrier_for_two_alone": ("""
import threading
barrier = threading.Barrier(2)
barrier.wait()  # LINE
""", r"deadlock|lock|barrier", "a second thread that never comes"),
    "wait_for_a_signal": ("""
import signal
signal.pause()  # LINE
""", r"signal", "a signal nobody sends"),
    "waitpid_on_a_stopped_child": ("""
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.executable, "-c", "while True: pass"])
time.sleep(1)
os.kill(p.pid, signal.SIGSTOP)
os.waitpid(p.pid, 0)  # LINE
""", r"stopped|SIGSTOP", "a child that was stopped"),
    "semaphore_of_a_dead_process": ("""
import multiprocessing as mp, os
ctx = mp.get_context("fork")
s = ctx.Semaphore(1)
def child():
    s.acquire(); os._exit(0)
p = ctx.Process(target=child); p.start(); p.join()
s.acquire()  # LINE
""", r"deadlock|lock|semaphore", "a semaphore whose holder is dead"),
    "select_on_a_silent_socket": ("""
import select, socket
a, b = socket.socketpair()
select.select([a], [], [])  # LINE
""", r"I/O|socket|wait", "data that nobody sends"),
    "native_mutex_locked_twice": ("""
import ctypes
libc = ctypes.CDLL(None)
m = ctypes.create_string_buffer(64)
libc.pthread_mutex_lock(m)
libc.pthread_mutex_lock(m)  # LINE
""", r"deadlock|lock", "a mutex of native code that it holds itself"),
}
