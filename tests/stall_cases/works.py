"""Cells that work, sleep or wait for a bounded time, without output, for SECONDS: a watch must leave them alone."""

SECONDS = 13
BURN = "import time; t=time.time()\\nwhile time.time()-t<{0}: sum(i*i for i in range(20000))"

WORKS = {}


def work(name, cell):
    WORKS[name] = cell.strip("\n").replace("SECONDS", str(SECONDS))


work("asyncio.sleep", "import asyncio\nawait asyncio.sleep(SECONDS)")

work(
    "tasks that sleep",
    """
import asyncio
async def one(n):
    for i in range(n): await asyncio.sleep(1)
await asyncio.gather(*(one(SECONDS) for i in range(5)))
""",
)

work(
    "await with a timeout",
    """
import asyncio
try:
    await asyncio.wait_for(asyncio.Event().wait(), SECONDS)
except asyncio.TimeoutError: pass
""",
)

work("time.sleep", "import time\ntime.sleep(SECONDS)")

work("sleeps in a loop", "import time\nfor i in range(SECONDS * 2):\n    time.sleep(0.5)")

work(
    "thread that sleeps, joined",
    """
import threading, time
t = threading.Thread(target=time.sleep, args=(SECONDS,))
t.start(); t.join()
""",
)

work(
    "queue with a slow producer",
    """
import queue, threading, time
q = queue.Queue()
def produce():
    for i in range(SECONDS // 2):
        time.sleep(2)
        q.put(i)
threading.Thread(target=produce).start()
for i in range(SECONDS // 2): q.get()
""",
)

work("wait with a timeout", "import threading\nthreading.Event().wait(SECONDS)")

work(
    "thread that computes while main waits",
    """
import hashlib, threading, time, queue
q = queue.Queue()
def compute():
    end = time.time() + SECONDS
    while time.time() < end: hashlib.pbkdf2_hmac("sha256", b"x", b"y", 20000)
    q.put(1)
threading.Thread(target=compute).start()
q.get()
""",
)

work(
    "loop over short children",
    """
import subprocess, sys, time
end = time.time() + SECONDS
while time.time() < end:
    subprocess.run([sys.executable, "-c", "sum(i*i for i in range(3_000_000))"])
""",
)

work(
    "shell loop over short grandchildren",
    """
import subprocess
subprocess.run("end=$(( $(date +%s) + SECONDS )); while [ $(date +%s) -lt $end ]; do head -c 20000000 /dev/zero | sha256sum > /dev/null; done", shell=True)
""",
)

work("shell command that sleeps now and then", "!for i in $(seq SECONDS); do sleep 1; done")

work("subprocess that sleeps", "import subprocess\nsubprocess.run(['sleep', 'SECONDS'])")

work(
    "process pool that computes",
    """
import multiprocessing, time
def burn(i):
    end = time.time() + SECONDS
    while time.time() < end: sum(i*i for i in range(20000))
with multiprocessing.get_context("fork").Pool(2) as pool: pool.map(burn, range(2))
""",
)

work(
    "process pool that sleeps",
    """
import multiprocessing, time
with multiprocessing.get_context("fork").Pool(4) as pool: pool.map(time.sleep, [SECONDS] * 4)
""",
)

work(
    "awaited child that computes",
    f"""
import asyncio, sys
p = await asyncio.create_subprocess_exec(sys.executable, "-c", "{BURN.format("SECONDS")}".encode().decode("unicode_escape"))
await p.wait()
""",
)

work(
    "awaited executor",
    """
import asyncio, time
def compute():
    end = time.time() + SECONDS
    while time.time() < end: sorted(range(100000), key=lambda i: -i)
await asyncio.get_running_loop().run_in_executor(None, compute)
""",
)

work(
    "socket that drips",
    """
import socket, subprocess, sys
server = '''
import socket, time
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True)
c, _ = s.accept()
for i in range(SECONDS): c.send(b"x"); time.sleep(1)
'''
p = subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE, text=True)
c = socket.create_connection(("127.0.0.1", int(p.stdout.readline())))
while c.recv(100): pass
""",
)

work(
    "slow download into a file",
    """
import http.server, threading, time, urllib.request, shutil
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
        for i in range(SECONDS): self.wfile.write(b"x" * 1000); time.sleep(1)
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Slow)
threading.Thread(target=server.serve_forever, daemon=True).start()
with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as r, open("got", "wb") as f: shutil.copyfileobj(r, f, 100)
""",
)

work(
    "child whose output drips into a pipe",
    """
import subprocess
p = subprocess.Popen("for i in $(seq SECONDS); do echo epoch $i; sleep 1; done", shell=True, stdout=subprocess.PIPE)
lines = [line for line in p.stdout]
""",
)

work(
    "long regular expression",
    """
import re, time
end = time.time() + SECONDS
n = 22
while time.time() < end:
    re.match(r"(a|aa)+$", "a" * n + "b"); n += 1
""",
)

work(
    "big pickle and json",
    """
import json, pickle, time
data = {str(i): [i, i * 0.5, str(i)] for i in range(60_000)}
end = time.time() + SECONDS
while time.time() < end: json.loads(json.dumps(pickle.loads(pickle.dumps(data))))
""",
)

work(
    "one big integer",
    """
import time
end, n = time.time() + SECONDS, 200_000
while time.time() < end:
    str(3 ** n) if n < 250_000 else 3 ** n % 10**9
    n = n * 2 if n < 20_000_000 else n
""".replace("import time", "import sys, time\nsys.set_int_max_str_digits(0)"),
)

work(
    "C loop, interpreter's lock free",
    """
import ctypes, pathlib, subprocess
pathlib.Path("burn.c").write_text("#include <time.h>\\ndouble burn(int s){double x=0;time_t e=time(0)+s;while(time(0)<e)for(int i=0;i<1000000;i++)x+=i*0.5;return x;}")
subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", "burn.so", "burn.c"], check=True)
ctypes.CDLL("./burn.so").burn(SECONDS)
""",
)

work(
    "C loop, interpreter's lock held",
    """
import ctypes, pathlib, subprocess
pathlib.Path("burn.c").write_text("#include <time.h>\\ndouble burn(int s){double x=0;time_t e=time(0)+s;while(time(0)<e)for(int i=0;i<1000000;i++)x+=i*0.5;return x;}")
subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", "burn.so", "burn.c"], check=True)
ctypes.PyDLL("./burn.so").burn(SECONDS)
""",
)

work(
    "NumPy products",
    """
import time, numpy as np
a = np.random.rand(600, 600)
end = time.time() + SECONDS
while time.time() < end: a = a @ a; a /= np.abs(a).max()
""",
)

work(
    "one line that counts",
    """
import itertools, time
end, n = time.time() + SECONDS, 0
while time.time() < end: n += 1
""",
)

work(
    "generator in one line",
    """
import itertools, time
end = time.time() + SECONDS
sum(i * i for i in itertools.takewhile(lambda i: time.time() < end, itertools.count()))
""",
)

work(
    "sort in one call",
    """
import random, time
end = time.time() + SECONDS
while time.time() < end: sorted([random.random() for i in range(500_000)], key=str)
""",
)

work(
    "log that goes to a file",
    """
import logging, os, time
log = logging.getLogger("train"); log.propagate = False
log.addHandler(logging.FileHandler("train.log")); log.setLevel(logging.INFO)
for i in range(SECONDS * 5):
    log.info("step %d", i); os.sync() if i % 20 == 19 else time.sleep(0.2)
""",
)

work(
    "SQL query",
    """
import sqlite3, time
end = time.time() + SECONDS
while time.time() < end:
    sqlite3.connect(":memory:").execute("with recursive c(x) as (select 1 union all select x+1 from c where x<400000) select sum(x*x) from c").fetchone()
""",
)

work("select with a timeout", "import os, select\nr, w = os.pipe()\nselect.select([r], [], [], SECONDS)")

work("question to the user", "answer = input('how many epochs? ')")

work("debugger", "def f(x):\n    import pdb; pdb.set_trace()\n    return x\nf(1)")
