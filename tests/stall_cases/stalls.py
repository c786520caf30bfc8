"""Cells that will never end. `# HERE` marks the line a notice must name; `said` is what its first line must say."""

DEADLOCK = r"dead-?lock|nothing (else )?(runs|is left)|no one|nobody|never"
CHILD = r"dead-?lock|child|process|pipe"
IO = r"I/O|network|socket|connection|pipe"

STALLS = {}


def stall(name, said, cell):
    STALLS[name] = (said, cell.strip("\n"))


stall(
    "two locks taken in opposite order",
    DEADLOCK,
    """
import threading, time
a, b = threading.Lock(), threading.Lock()
def take(first, second):
    with first:
        time.sleep(0.5)
        with second: pass
threads = [threading.Thread(target=take, args=pair, daemon=True) for pair in ((a, b), (b, a))]
for t in threads: t.start()
for t in threads: t.join()  # HERE
""",
)

stall(
    "queue nobody fills",
    DEADLOCK,
    """
import queue
q = queue.Queue()
def take(q):
    return q.get()  # HERE
take(q)
""",
)

stall(
    "barrier with one party missing",
    DEADLOCK,
    """
import threading
barrier = threading.Barrier(3)
threading.Thread(target=barrier.wait, daemon=True).start()
barrier.wait()  # HERE
""",
)

stall(
    "event polled with a timeout, nobody sets it",
    DEADLOCK + r"|wait|spin|poll",
    """
import threading
done = threading.Event()
while not done.wait(0.5):  # HERE
    pass
""",
)

stall(
    "pool whose worker was killed",
    CHILD + "|wait",
    """
import multiprocessing, os
def work(i):
    if i == 2: os._exit(1)
    return i
with multiprocessing.get_context("fork").Pool(2) as pool:
    pool.map(work, range(4), 1)  # HERE
""",
)

stall(
    "executor that waits for itself",
    DEADLOCK,
    """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def outer():
    return pool.submit(int, "1").result()
pool.submit(outer).result()  # HERE
""",
)

stall(
    "child that fills its pipe",
    CHILD + "|I/O",
    """
import subprocess, sys
p = subprocess.Popen([sys.executable, "-c", "print('x' * 10_000_000)"], stdout=subprocess.PIPE)
p.wait()  # HERE
""",
)

stall(
    "module that waits for its own import",
    DEADLOCK,
    """
import pathlib, sys
pathlib.Path("selfish.py").write_text(
    "import threading\\ndef again():\\n    import selfish\\n    selfish.x\\n"
    "t = threading.Thread(target=again, daemon=True)\\nt.start()\\nt.join()\\nx = 1\\n")
sys.path.insert(0, ".")
import selfish  # HERE
""",
)

stall(
    "mutex of C taken twice",
    DEADLOCK + "|lock",
    """
import ctypes
libc = ctypes.CDLL(None)
mutex = ctypes.create_string_buffer(64)
libc.pthread_mutex_lock(mutex)
libc.pthread_mutex_lock(mutex)  # HERE
""",
)

stall(
    "native read with the interpreter's lock held",
    r"I/O|pipe|interpreter|GIL|native",
    """
import ctypes, os
r, w = os.pipe()
ctypes.PyDLL(None).read(r, ctypes.create_string_buffer(8), 8)  # HERE
""",
)

stall(
    "semaphore of processes nobody releases",
    DEADLOCK + "|semaphore|lock",
    """
import multiprocessing
s = multiprocessing.get_context("fork").Semaphore(1)
s.acquire()
s.acquire()  # HERE
""",
)

stall(
    "FIFO without a reader",
    r"I/O|FIFO|pipe|file",
    """
import os
os.mkfifo("line")
with open("line", "w") as f:  # HERE
    f.write("x")
""",
)

stall(
    "server that never answers",
    IO,
    """
import socket, subprocess, sys, urllib.request
server = "import socket,time; s=socket.create_server(('127.0.0.1',0)); print(s.getsockname()[1],flush=True); c=s.accept(); time.sleep(1e6)"
p = subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE, text=True)
port = int(p.stdout.readline())
def download():
    return urllib.request.urlopen(f"http://127.0.0.1:{port}/data.zip").read()
download()  # HERE
""",
)

stall(
    "connection that is never accepted",
    IO,
    """
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
keep = []
while len(keep) < 8:
    c = socket.socket()
    c.connect(s.getsockname())  # HERE
    keep.append(c)
""",
)

stall(
    "thread that reads from a silent peer",
    IO,
    """
import socket, subprocess, sys, threading
server = "import socket,time; s=socket.create_server(('127.0.0.1',0)); print(s.getsockname()[1],flush=True); c=s.accept(); time.sleep(1e6)"
p = subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE, text=True)
peer = socket.create_connection(("127.0.0.1", int(p.stdout.readline())))
t = threading.Thread(target=peer.recv, args=(1,), daemon=True)
t.start()
t.join()  # HERE
""",
)

stall(
    "flag nobody sets, asked without rest",
    r"spin",
    """
import threading
done = threading.Event()
while not done.is_set(): pass  # HERE
""",
)

stall(
    "file nobody writes, asked without rest",
    r"spin|file",
    """
import os
while not os.path.exists("results/done.flag"): pass  # HERE
""",
)

stall(
    "file nobody writes, asked now and then",
    r"file|I/O|wait|poll|spin",
    """
import os, time
def ready():
    try:
        return os.stat("checkpoint-0100.keras").st_size > 0
    except FileNotFoundError:
        return False
while not ready():
    time.sleep(0.3)  # HERE
""",
)

stall(
    "kernel stopped from outside",
    r"stopped|SIGSTOP|suspended",
    """
import os, subprocess
subprocess.Popen(["sh", "-c", f"sleep 1; kill -STOP {os.getpid()}"])
for i in range(10**12): i * i
""",
)

stall(
    "await on a queue nobody fills",
    r"await|deadlock|task|coroutine|never|event loop|wait",
    """
import asyncio
q = asyncio.Queue()
await q.get()  # HERE
""",
)

stall(
    "tasks that await each other's event",
    r"await|deadlock|task|coroutine|never|event loop|wait",
    """
import asyncio
a, b = asyncio.Event(), asyncio.Event()
async def one(mine, other):
    await other.wait()
    mine.set()
await asyncio.gather(one(a, b), one(b, a))  # HERE
""",
)

stall(
    "result of a coroutine of one's own loop",
    DEADLOCK + "|event loop",
    """
import asyncio
loop = asyncio.get_running_loop()
async def answer(): return 42
asyncio.run_coroutine_threadsafe(answer(), loop).result()  # HERE
""",
)

stall(
    "file locked by another process",
    r"lock|file|I/O|process",
    """
import fcntl, subprocess, sys
holder = "import fcntl,time; f=open('data.lock','w'); fcntl.flock(f,2); print(1,flush=True); time.sleep(1e6)"
p = subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE)
p.stdout.readline()
f = open("data.lock")
fcntl.flock(f, fcntl.LOCK_EX)  # HERE
""",
)

stall(
    "child joined before its queue is read",
    CHILD + "|I/O",
    """
import multiprocessing
context = multiprocessing.get_context("fork")
q = context.Queue()
p = context.Process(target=lambda: q.put(b"x" * 10_000_000))
p.start()
p.join()  # HERE
""",
)

stall(
    "forked child that inherits a held lock",
    CHILD + "|I/O",
    """
import os, threading
lock = threading.Lock()
lock.acquire()
pid = os.fork()
if pid == 0:
    lock.acquire()
    os._exit(0)
os.waitpid(pid, 0)  # HERE
""",
)
