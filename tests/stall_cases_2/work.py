"""Cells that work or wait on purpose, each for about SECONDS (a name that the runner puts in), and must be left alone."""

WORK = {
    "download_that_drips": """
import socket, threading, time, urllib.request
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
def serve():
    c, _ = s.accept(); c.recv(4096)
    c.sendall(b"HTTP/1.0 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % (SECONDS // 2))
    for _ in range(SECONDS // 2):
        time.sleep(2); c.sendall(b"x")
import multiprocessing as mp
p = mp.get_context("fork").Process(target=serve); p.start()
data = urllib.request.urlopen(f"http://127.0.0.1:{s.getsockname()[1]}/").read()
""",
    "join_on_a_thread_that_computes": """
import threading, time
end = time.time() + SECONDS
def work():
    x = 1
    while time.time() < end:
        x = x * 3 % 1000003
t = threading.Thread(target=work); t.start(); t.join()
""",
    "child_that_computes": """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import time\\nend = time.time() + SECONDS\\nx = 1\\nwhile time.time() < end: x = x * 3 % 1000003"])
""",
    "shell_loop_over_short_programs": """
import os
os.system("end=$(( $(date +%s) + SECONDS )); while [ $(date +%s) -lt $end ]; do head -c 20000000 /dev/zero | sha256sum > /dev/null; done")
""",
    "long_division_of_integers": """
import time
end = time.time() + SECONDS
x = 7 ** 400000
while time.time() < end:
    y = x * x // (x + 1)
""",
    "one_call_into_c_with_the_lock_held": """
total = sum(range(SECONDS * 40_000_000))
""",
    "singular_values": """
import numpy as np, time
end = time.time() + SECONDS
a = np.random.default_rng(0).normal(size=(900, 900))
while time.time() < end: np.linalg.svd(a)
""",
    "pandas_apply": """
import pandas as pd, numpy as np, time
end = time.time() + SECONDS
df = pd.DataFrame({"k": np.arange(100000) % 1000, "v": np.arange(100000.0)})
def f(g): return g.v.sum() + g.v.std()
while time.time() < end: out = df.groupby("k").apply(f)
""",
    "poll_a_child_that_computes": """
import subprocess, sys, time
p = subprocess.Popen([sys.executable, "-c", "import time\\nend = time.time() + SECONDS\\nwhile time.time() < end: sum(range(1000))"])
while p.poll() is None:
    time.sleep(0.5)
""",
    "input": """
name = input("name? ")
""",
    "asyncio_clients_that_pause": """
import asyncio
async def client(i):
    for _ in range(SECONDS // 2):
        await asyncio.sleep(2)
    return i
await asyncio.gather(*(client(i) for i in range(5)))
""",
    "pool_that_computes": """
import multiprocessing as mp, time
end = time.time() + SECONDS
def f(i):
    n = 0
    while time.time() < end: n += i * i
    return n
with mp.get_context("fork").Pool(2) as pool:
    out = pool.map(f, range(2))
""",
    "file_lock_that_will_be_freed": """
import fcntl, subprocess, sys, tempfile
path = tempfile.mktemp()
code = f"import fcntl, time; f = open({path!r}, 'w'); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); end = time.time() + SECONDS" + chr(10) + "while time.time() < end: sum(range(1000))"
p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
p.stdout.readline()
fcntl.flock(open(path, "w"), fcntl.LOCK_EX)
""",
    "queue_filled_by_a_thread_that_computes": """
import queue, threading, time
q = queue.Queue()
def work():
    end, x = time.time() + SECONDS, 0
    while time.time() < end: x += 1
    q.put(x)
threading.Thread(target=work).start()
result = q.get()
""",
    "compiler": """
import subprocess, tempfile, os, time
d = tempfile.mkdtemp(); src = os.path.join(d, "a.cpp")
open(src, "w").write("#include <regex>\\n#include <map>\\n#include <string>\\n" + "".join(
    f"std::map<std::string,std::regex> f{i}(std::string s) {{ return {{{{s, std::regex(s)}}}}; }}\\n" for i in range(40)))
end = time.time() + SECONDS
while time.time() < end: subprocess.run(["g++", "-O2", "-c", src, "-o", os.path.join(d, "a.o")], check=True)
""",
    "checkpoints_written_with_fsync": """
import os, tempfile, time
end = time.time() + SECONDS
with tempfile.NamedTemporaryFile() as f:
    while time.time() < end:
        f.seek(0); f.write(os.urandom(1 << 20)); f.flush(); os.fsync(f.fileno()); time.sleep(0.2)
""",
    "lzma_of_one_block": """
import lzma, os
block = bytes(range(256)) * (SECONDS * 12000) + os.urandom(SECONDS * 100_000)
packed = lzma.compress(block, preset=9)
""",
    "difflib_in_one_call": """
import difflib, random
r = random.Random(1)
a, b = ([r.randrange(40) for _ in range(SECONDS * 800)] for _ in range(2))
ratio = difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()
""",
    "timeit": """
import timeit
t = timeit.timeit("f(3)", globals={"f": abs}, number=SECONDS * 10_000_000)
""",
    "rejection_sampling_in_one_line": """
import random, time
r, end = random.Random(2), time.time() + SECONDS
while r.random() > 1e-9 and time.time() < end: pass
""",
    "array_changed_in_place": """
import numpy as np, itertools
a = np.ones(1_000_000)
for _ in itertools.repeat(None, SECONDS * 1500): a *= 1.0000001
""",
    "http_server_with_visitors": """
import http.server, multiprocessing as mp, time, urllib.request
class Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), Quiet)
def visit(port):
    end = time.time() + SECONDS
    while time.time() < end: urllib.request.urlopen(f"http://127.0.0.1:{port}/").read(); time.sleep(1)
p = mp.get_context("fork").Process(target=visit, args=(s.server_port,)); p.start()
while p.is_alive(): s.timeout = 1; s.handle_request()
""",
    "requests_with_a_pause_between": """
import time
from concurrent.futures import ThreadPoolExecutor
def call(i):
    time.sleep(2); return i
with ThreadPoolExecutor(2) as pool:
    out = list(pool.map(call, range(SECONDS)))
""",
    "compile_with_jax": """
import jax, jax.numpy as jnp, time
end = time.time() + SECONDS
n = 150
while time.time() < end:
    def f(x, n=n):
        for i in range(n): x = jnp.sin(x @ x + i)
        return x
    jax.jit(f).lower(jnp.ones((8, 8))).compile(); n += 1
""",
    "query_in_sqlite": """
import sqlite3
db = sqlite3.connect(":memory:")
n = db.execute("with recursive c(x) as (values(1) union all select x + 1 from c where x < ?) select sum(x % 7) from c", (SECONDS * 3_000_000,)).fetchone()
""",
    "event_with_a_time_limit": """
import threading
threading.Event().wait(SECONDS)
""",
}
