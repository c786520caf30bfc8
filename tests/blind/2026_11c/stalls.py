#!/usr/bin/env python3
"""stalls.py [case ...] [--json FILE] [--jobs N] [--plain]: runs each cell in a kernel under the guard, as Jupyter would.

A stall must be told of within 80 s: `kind` is a loose regular expression on what is said, `line` is the line of the cell it hangs at.
A working cell runs for some 45 s and must be left alone: whatever the cell shows but the word it prints itself is a false alarm.
--plain: without the guard; a stall must still be running after 20 s, a working cell must end by itself. That proves the cells.
"""
import argparse, concurrent.futures, dataclasses, json, os, pathlib, queue, re, socket, subprocess, sys, tempfile, textwrap, threading, time
from jupyter_client.manager import KernelManager

ROOT = pathlib.Path(os.environ.get("BLIND_ROOT", "/tmp/blind3"))
PLIMSOLL = os.environ.get("PLIMSOLL", "plimsoll")
PYTHON = ROOT / "stallenv/bin/python"


@dataclasses.dataclass
class Cell:
    name: str
    code: str
    kind: str = ""       # empty: it works
    line: str = ""
    url: str = ""


CELLS = {}


def stall(name, kind, line, code, url=""):
    CELLS[name] = Cell(name, textwrap.dedent(code).strip(), kind, line, url)


def works(name, code):
    CELLS[name] = Cell(name, textwrap.dedent(code).strip())


DEAD = r"deadlock|wait|lock|never"
IO = r"I/O|network|socket|pipe|read|wait|answer"

stall("worker_killed_under_a_pool", DEAD, "pool.map", """
    import multiprocessing as mp, os
    def load(i):
        if i == 2: os.kill(os.getpid(), 9)          # as the out-of-memory killer does
        return i
    with mp.get_context('fork').Pool(2) as pool:
        rows = pool.map(load, range(6), chunksize=1)
    """, "https://github.com/dssg/triage/issues/501")
stall("lock_held_over_a_fork", DEAD, "p.join", """
    import multiprocessing as mp, threading
    lock = threading.Lock()
    def child():
        with lock: print('in')
    lock.acquire()
    p = mp.get_context('fork').Process(target=child)
    p.start()
    p.join()
    """, "https://github.com/jupyter/notebook/issues/5261")
stall("queue_nobody_fills", DEAD, "q.get", """
    import queue
    q = queue.Queue()
    def next_batch():
        return q.get()
    next_batch()
    """)
stall("joined_before_the_queue_was_read", DEAD, "p.join", """
    import multiprocessing as mp
    c = mp.get_context('fork')
    q = c.Queue()
    p = c.Process(target=lambda: q.put(b'x' * 10_000_000))
    p.start()
    p.join()
    data = q.get()
    """)
stall("lock_taken_twice_by_a_helper", DEAD, "with lock", """
    import threading
    lock = threading.Lock()
    def save():
        with lock: pass
    def update():
        with lock:
            save()
    update()
    """)
stall("two_threads_two_locks", DEAD, "t.join", """
    import threading, time
    a, b = threading.Lock(), threading.Lock()
    def one():
        with a:
            time.sleep(.5)
            with b: pass
    def two():
        with b:
            time.sleep(.5)
            with a: pass
    ts = [threading.Thread(target=f, daemon=True) for f in (one, two)]
    for t in ts: t.start()
    for t in ts: t.join()
    """)
stall("event_nobody_sets_awaited", DEAD, "wait()", """
    import asyncio
    ready = asyncio.Event()
    async def first():
        await ready.wait()
    await first()
    """)
stall("asyncio_lock_taken_twice", DEAD, "async with lock", """
    import asyncio
    lock = asyncio.Lock()
    async def fetch():
        async with lock: return 1
    async def page():
        async with lock:
            return await fetch()
    await page()
    """)
stall("future_waits_for_its_own_executor", DEAD, "result()", """
    from concurrent.futures import ThreadPoolExecutor
    ex = ThreadPoolExecutor(max_workers=1)
    def outer():
        return ex.submit(pow, 5, 2).result()
    print(ex.submit(outer).result())
    """, "https://github.com/python/cpython/issues/141617")
stall("coroutine_sent_to_the_loop_that_waits", DEAD, "result()", """
    import asyncio
    async def answer(): return 42
    loop = asyncio.get_running_loop() if False else asyncio.get_event_loop()
    f = asyncio.run_coroutine_threadsafe(answer(), loop)
    f.result()
    """, "https://github.com/empicano/aiomqtt/issues/174")
stall("child_fills_its_pipe", DEAD + "|pipe", "p.wait", """
    import subprocess, sys
    p = subprocess.Popen([sys.executable, '-c', 'print("x" * 1000000)'], stdout=subprocess.PIPE)
    p.wait()
    """, "https://thraxil.org/users/anders/posts/2008/03/13/Subprocess-Hanging-PIPE-is-your-enemy/")
stall("sort_waits_for_the_end_of_its_input", DEAD + "|pipe|I/O", "stdout.read", """
    import subprocess
    p = subprocess.Popen(['sort'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write(b'b\\na\\n'); p.stdin.flush()
    print(p.stdout.read())
    """)
stall("server_that_accepts_and_is_silent", IO, "urlopen", """
    import urllib.request
    urllib.request.urlopen('http://127.0.0.1:{silent}/data.csv').read()
    """)
stall("file_locked_by_another_process", r"lock", "flock", """
    import fcntl
    f = open('{locked}', 'w')
    fcntl.flock(f, fcntl.LOCK_EX)
    """)
stall("fifo_without_a_writer", IO, "open(", """
    import os, tempfile
    path = tempfile.mkdtemp() + '/frames'
    os.mkfifo(path)
    with open(path) as f:
        f.read()
    """)
stall("flag_of_a_thread_that_failed", r"spin|loop|over and over|busy", "while not", """
    import threading
    threading.excepthook = lambda a: None
    state = {'ready': False}
    def load():
        raise OSError('gone')
        state['ready'] = True
    threading.Thread(target=load).start()
    while not state['ready']: pass
    """)
stall("counter_that_never_gets_there", r"spin|loop|over and over|busy", "while", """
    done = []
    while len(done) < 3: pass
    """)
stall("barrier_for_three_with_two", DEAD, "barrier.wait", """
    import threading
    barrier = threading.Barrier(3)
    threading.Thread(target=barrier.wait, daemon=True).start()
    barrier.wait()
    """)
stall("worker_without_a_last_item", DEAD, "t.join", """
    import queue, threading
    q = queue.Queue()
    def work():
        while True:
            item = q.get()
    t = threading.Thread(target=work, daemon=True)
    t.start()
    for i in range(10): q.put(i)
    t.join()
    """)
stall("queue_join_without_task_done", DEAD, "q.join", """
    import queue, threading
    q = queue.Queue()
    def work():
        for _ in range(3): q.get()
    threading.Thread(target=work).start()
    for i in range(3): q.put(i)
    q.join()
    """)
stall("pipe_whose_other_end_is_ours", DEAD + "|pipe|I/O", "os.read", """
    import os
    r, w = os.pipe()
    os.read(r, 1)
    """)
stall("child_stopped_by_a_signal", r"stop", "p.wait", """
    import subprocess, os, signal
    p = subprocess.Popen(['sleep', '600'])
    os.kill(p.pid, signal.SIGSTOP)
    p.wait()
    """)
stall("semaphore_of_processes_at_zero", DEAD, "acquire", """
    import multiprocessing as mp
    slots = mp.Semaphore(0)
    slots.acquire()
    """)

works("sleeps", "import time\ntime.sleep(45)\nprint('done')")
works("matrix_products", """
    import numpy as np, time
    a, end = np.random.rand(800, 800), time.time() + 45
    while time.time() < end: a @ a
    print('done')
    """)
works("one_call_in_c", """
    import hashlib, time
    t = time.time(); hashlib.pbkdf2_hmac('sha256', b'x', b'y', 200000); t = time.time() - t
    hashlib.pbkdf2_hmac('sha256', b'x', b'y', int(200000 * 45 / t)); print('done')
    """)
works("child_sleeps", "import subprocess\nsubprocess.run(['sleep', '45'])\nprint('done')")
works("child_computes", """
    import subprocess, sys
    out = subprocess.check_output([sys.executable, '-c', 'import time\\nend=time.time()+45\\nwhile time.time()<end: pass'])
    print('done')
    """)
works("shell_line_in_parts", "import os\nos.system('for i in 1 2 3 4 5 6 7 8 9; do sleep 5; done')\nprint('done')")
works("threads_that_wait_politely", """
    from concurrent.futures import ThreadPoolExecutor
    import time
    def ask(i):
        for _ in range(9): time.sleep(5)
        return i
    with ThreadPoolExecutor(4) as ex: list(ex.map(ask, range(4)))
    print('done')
    """)
works("await_of_several_sleeps", "import asyncio\nawait asyncio.gather(*[asyncio.sleep(40 + i) for i in range(5)])\nprint('done')")
works("await_of_a_sleeping_thread", "import asyncio, time\nawait asyncio.to_thread(time.sleep, 45)\nprint('done')")
works("data_in_drops", """
    import socket
    s = socket.create_connection(('127.0.0.1', {drops})); n = 0
    while b := s.recv(100): n += len(b)
    print('done')
    """)
works("event_set_by_a_timer", """
    import threading
    e = threading.Event()
    threading.Timer(45, e.set).start()
    e.wait()
    print('done')
    """)
works("pool_whose_children_compute", """
    import multiprocessing as mp, time
    def f(i):
        end = time.time() + 42
        while time.time() < end: pass
        return i
    with mp.get_context('fork').Pool(2) as p: p.map(f, range(2))
    print('done')
    """)
works("producer_that_takes_its_time", """
    import multiprocessing as mp, time
    c = mp.get_context('fork'); q = c.Queue()
    def produce():
        for i in range(3): time.sleep(15); q.put(i)
    c.Process(target=produce).start()
    for _ in range(3): q.get()
    print('done')
    """)
works("polls_for_a_file", """
    import os, time
    end = time.time() + 45
    while not os.path.exists('/nowhere/job.done') and time.time() < end: time.sleep(1)
    print('done')
    """)
works("spins_on_the_clock", "import time\nend = time.time() + 45\nwhile time.time() < end: pass\nprint('done')")
works("collatz", """
    import time
    n, steps, end = 27, 0, time.time() + 45
    while time.time() < end:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if n == 1: n = 27 + steps
    print('done')
    """)
works("bad_regular_expression", """
    import re, time
    n, t = 18, 0
    while t < 12:
        s = time.time(); re.match('(a+)+b', 'a' * n); t = time.time() - s; n += 1
    re.match('(a+)+b', 'a' * n)
    print('done')
    """)
works("long_query", """
    import sqlite3, time
    c = sqlite3.connect(':memory:'); end = time.time() + 45
    c.set_progress_handler(lambda: time.time() > end, 100000)
    try: c.execute('with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n').fetchone()
    except sqlite3.OperationalError: pass
    print('done')
    """)
works("iterator_eaten_in_c", """
    import itertools, collections, time
    t = time.time(); collections.deque(itertools.islice(itertools.count(), 20_000_000), maxlen=0); t = time.time() - t
    collections.deque(itertools.islice(itertools.count(), int(20_000_000 * 45 / t)), maxlen=0)
    print('done')
    """)
works("factorisation_in_blas_threads", """
    import numpy as np, time
    a, end = np.random.rand(1200, 1200), time.time() + 42
    while time.time() < end: np.linalg.svd(a)
    print('done')
    """)
works("writes_and_syncs", """
    import os, tempfile, time
    f, end = tempfile.TemporaryFile(), time.time() + 45
    while time.time() < end:
        f.seek(0); f.write(os.urandom(1 << 20)); f.flush(); os.fsync(f.fileno()); time.sleep(.2)
    print('done')
    """)
works("condition_with_a_timeout", "import threading\nc = threading.Condition()\nwith c: c.wait(timeout=45)\nprint('done')")
works("as_completed_of_sleeping_processes", """
    from concurrent.futures import ProcessPoolExecutor, as_completed
    import multiprocessing as mp, time
    with ProcessPoolExecutor(2, mp_context=mp.get_context('fork')) as ex:
        for f in as_completed([ex.submit(time.sleep, 40 + i) for i in range(2)]): f.result()
    print('done')
    """)


def serve(drop):
    """A server of ours, outside the kernel: silent, or a byte now and then for 45 s."""
    s = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            c, _ = s.accept()
            threading.Thread(target=talk, args=(c,), daemon=True).start()

    def talk(c):
        if not drop:
            time.sleep(10000)
        for _ in range(15):
            time.sleep(3)
            c.sendall(b"x")
        c.close()
    threading.Thread(target=accept, daemon=True).start()
    return s.getsockname()[1]


def make_environment():
    uv = os.environ.get("BLIND_UV", str(ROOT / "tools/bin/uv"))
    if not PYTHON.exists():
        base = next(pathlib.Path(os.environ.get("BLIND_PYTHONS", os.path.expanduser("~/.pyenv/versions"))).glob("3.11.*")) / "bin/python"
        subprocess.run([base, "-m", "venv", "--without-pip", ROOT / "stallenv"], check=True)
        subprocess.run([uv, "pip", "install", "-q", "--python", PYTHON, "ipykernel==7.4.0", "numpy==2.4.6"], check=True, env=os.environ | {"UV_CACHE_DIR": str(ROOT / "uvcache")})
        subprocess.run([PYTHON, "-m", "ipykernel", "install", "--sys-prefix"], check=True, capture_output=True)     # with the whole path of the interpreter


def environ(home):
    e = {k: v for k, v in os.environ.items() if re.match(r"LANG$|LC_|TZ$", k)}
    return e | {"HOME": home, "PATH": f"{PYTHON.parent}:/usr/local/bin:/usr/bin:/bin", "VIRTUAL_ENV": str(ROOT / "stallenv"), "JUPYTER_PREFER_ENV_PATH": "0"}


def run(cell, where, plain):
    with tempfile.TemporaryDirectory(dir=ROOT) as home:
        env = environ(home)
        name = "python3"
        if not plain:
            subprocess.run([PLIMSOLL, "kernel", "install", "--memory", "4GiB"], env=env, check=True, capture_output=True)
            name = "python3-guarded"
        spec = next(p for p in [*pathlib.Path(home).rglob(f"{name}/kernel.json"), *(ROOT / "stallenv").rglob(f"share/jupyter/kernels/{name}/kernel.json")])
        m = KernelManager(kernel_name=name)
        m.kernel_spec_manager.kernel_dirs = [str(spec.parent.parent)]
        m.start_kernel(env=env | json.loads(spec.read_text()).get("env", {}), cwd=home)
        try:
            c = m.blocking_client()
            c.start_channels()
            c.wait_for_ready(timeout=90)
            code = cell.code.format_map(where) if "{" in cell.code and re.search(r"\{(silent|drops|locked)\}", cell.code) else cell.code
            sent, begin, said, ended = c.execute(code, allow_stdin=False), time.time(), "", None
            limit = (20 if cell.kind else 170) if plain else (80 if cell.kind else 170)
            while time.time() - begin < limit:
                try:
                    msg = c.get_iopub_msg(timeout=1)
                except queue.Empty:
                    continue
                if msg["parent_header"].get("msg_id") != sent:
                    continue
                t, k = msg["msg_type"], msg["content"]
                said += k.get("text", "") if t == "stream" else "\n".join(k.get("traceback", [])) if t == "error" else k.get("data", {}).get("text/plain", "") if t in ("display_data", "update_display_data") else ""
                if t == "status" and k["execution_state"] == "idle":
                    ended = round(time.time() - begin)
                    break
                if cell.kind and not plain and said and re.search(cell.kind, said, re.I) and time.time() - begin > 25:
                    limit = min(limit, time.time() - begin + 2)      # the rest of what it says
        finally:
            m.shutdown_kernel(now=True)
    said = re.sub(r"\x1b\[[0-9;]*m", "", said)
    took = ended if ended is not None else round(time.time() - begin)
    if plain:
        good = ended is None if cell.kind else ended is not None and ended >= 32 and said.strip() == "done"
        verdict = "proved" if good else "NOT PROVED"
    elif cell.kind:
        told = bool(said.strip())
        lines = [cell.code.splitlines()[int(n) - 1] for n in re.findall(r"ipykernel_\d+/\d+\.py line (\d+)", said)]
        verdict = "missed" if not told else "right" if re.search(cell.kind, said, re.I) and any(cell.line in l for l in lines) else "right kind, other line" if re.search(cell.kind, said, re.I) else "other kind"
    else:
        verdict = "left alone" if said.strip() == "done" else "false alarm"
    return {"case": cell.name, "stalls": bool(cell.kind), "verdict": verdict, "seconds": took, "said": said[:3000]}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cases", nargs="*")
    p.add_argument("--json")
    p.add_argument("--jobs", type=int, default=6)
    p.add_argument("--plain", action="store_true")
    a = p.parse_args()
    make_environment()
    held = tempfile.NamedTemporaryFile(dir=ROOT)
    import fcntl
    fcntl.flock(held, fcntl.LOCK_EX)
    where = {"silent": serve(False), "drops": serve(True), "locked": held.name}
    rows = []

    def one(cell):
        try:
            return run(cell, where, a.plain)
        except Exception as e:
            return {"case": cell.name, "stalls": bool(cell.kind), "verdict": f"trouble: {type(e).__name__}: {e}"[:600], "said": ""}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for row in pool.map(one, [c for c in CELLS.values() if not a.cases or c.name in a.cases]):
            rows.append(row)
            print(f"{row['case']:42} {'stall' if row['stalls'] else 'works':6} {row['verdict']:24} {row.get('seconds', '')}", flush=True)
            if "NOT" in row["verdict"] or row["verdict"] in ("false alarm", "other kind"):
                print("    " + row["said"][:600].replace("\n", "\n    "), flush=True)
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
