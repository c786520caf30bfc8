#!/usr/bin/env python3
"""stalls.py [case ...] [--json FILE] [--jobs N]: cells in guarded kernels, notice after 5 s, watched for 16 s.

STALL: name -> (cell, what the notice must say, a piece of the line the stack must show). WORK: name -> cell that must get no notice.
"""
import argparse, concurrent.futures, json, os, pathlib, queue, re, shutil, subprocess, sys, time
ROOT = pathlib.Path(os.environ.get("BLIND_ROOT", "/tmp/blind/2026_11"))
PLIMSOLL = os.environ.get("PLIMSOLL", "plimsoll")
KERNEL = "python3-guarded"
LOCK, IO, AWAIT = r"deadlock|lock|waits? for|never|no thread|nobody", r"I/O|pipe|socket|FIFO|read|file|connection|writer", r"await|coroutine|asyncio|task"

STALL = {
    "abba": ("import threading, time\na, b = threading.Lock(), threading.Lock()\ndef other():\n    with b:\n        time.sleep(.3)\n        with a: pass\n"
             "t = threading.Thread(target=other); t.start()\nwith a:\n    time.sleep(.3)\n    with b: pass", LOCK, "with b"),
    "condition_never_notified": ("import threading\nc = threading.Condition()\nwith c:\n    c.wait()", LOCK, "c.wait"),
    "queue_nobody_puts": ("import queue\nqueue.Queue().get()", LOCK, "get"),
    "barrier_of_two": ("import threading\nthreading.Barrier(2).wait()", LOCK, "Barrier"),
    "future_never_set": ("from concurrent.futures import Future\nFuture().result()", LOCK, "result"),
    "pool_waits_for_itself": ("from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor(1)\np.submit(lambda: p.submit(int).result()).result()", LOCK, "result"),
    "pool_worker_killed": ("import multiprocessing as m, os\np = m.get_context('fork').Pool(1)\np.apply(os._exit, (1,))", LOCK + "|child|process|worker", "apply"),
    "process_queue_empty": ("import multiprocessing as m\nm.get_context('fork').Queue().get()", IO + "|" + LOCK, "get"),
    "own_pipe_empty": ("import os\nr, w = os.pipe()\nos.read(r, 1)", IO, "os.read"),
    "fifo_without_writer": ("import os, tempfile\np = tempfile.mktemp()\nos.mkfifo(p)\nopen(p).read()", IO, "open"),
    "accept_without_client": ("import socket\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\ns.accept()", IO, "accept"),
    "poll_on_an_eventfd": ("import os, select\np = select.poll(); p.register(os.eventfd(0), select.POLLIN)\np.poll()", IO + "|descriptor|poll", "poll"),
    "child_waits_for_its_input": ("import subprocess\np = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\np.wait()", IO + "|child|process", "wait"),
    "child_writes_into_a_full_pipe": ("import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', 'print(\"x\" * 10**6)'], stdout=subprocess.PIPE)\np.wait()", IO + "|child|process", "wait"),
    "file_lock_held_elsewhere": ("import fcntl, subprocess, sys, tempfile, time\np = tempfile.mktemp()\n"
                                 "subprocess.Popen(['setsid', 'sh', '-c', f'exec 9>{p}; flock 9; exec sleep 40'], start_new_session=True)\ntime.sleep(1)\nf = open(p, 'w')\nfcntl.flock(f, fcntl.LOCK_EX)", r"lock", "flock"),
    "await_event": ("import asyncio\nawait asyncio.Event().wait()", AWAIT + "|" + LOCK, "Event"),
    "await_future": ("import asyncio\nasync def inner():\n    await asyncio.get_running_loop().create_future()\nawait inner()", AWAIT + "|" + LOCK, "create_future"),
    "sigwait": ("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\nsignal.sigwait([signal.SIGUSR1])", r"signal", "sigwait"),
    "kernel_stopped": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", r"stop", ""),
    "child_stopped": ("import subprocess, signal\np = subprocess.Popen(['sleep', '100'])\np.send_signal(signal.SIGSTOP)\np.wait()", r"stop", "wait"),
    "spins_on_a_flag": ("flag = {'done': False}\nwhile not flag['done']: pass", r"spin", "while"),
    "native_wait_with_the_lock": ("import ctypes\nlib = ctypes.PyDLL(None)\nsem = (ctypes.c_char * 64)()\nlib.sem_init(sem, 0, 0)\nlib.sem_wait(sem)", LOCK + "|native|interpreter", "sem_wait"),
    "process_lock_twice": ("import multiprocessing as m\nl = m.get_context('fork').Lock()\nl.acquire()\nl.acquire()", LOCK, "acquire"),
    "http_without_answer": ("import socket, threading, urllib.request\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\nurllib.request.urlopen('http://127.0.0.1:%d/' % s.getsockname()[1]).read()", IO, "urlopen"),
    "join_of_a_stuck_thread": ("import threading\nl = threading.Lock(); l.acquire()\nt = threading.Thread(target=l.acquire); t.start()\nt.join()", LOCK, "join"),
}

WORK = {
    "pool_map_sleeps": "import time\nfrom concurrent.futures import ThreadPoolExecutor\nlist(ThreadPoolExecutor(2).map(time.sleep, [14, 14]))",
    "matmul": "import numpy as np, time\nt = time.time(); a = np.ones((900, 900))\nwhile time.time() - t < 14: a @ a",
    "pbkdf2": "import hashlib\nfor _ in range(3): hashlib.pbkdf2_hmac('sha512', b'x', b'y', 5_000_000)",
    "gather_of_sleeps": "import asyncio\nawait asyncio.gather(*[asyncio.sleep(14) for _ in range(5)])",
    "asyncio_subprocess_sleeps": "import asyncio\np = await asyncio.create_subprocess_exec('sleep', '14')\nawait p.wait()",
    "shell_loop_of_short_programs": "import subprocess\nsubprocess.run(['sh', '-c', 'i=0; while [ $i -lt 4000 ]; do /bin/true; i=$((i+1)); done; sleep 9'])",
    "process_pool_computes": "import multiprocessing as m\np = m.get_context('fork').Pool(2)\np.map(lambda_ := sum, [range(250_000_000)] * 2)",
    "generator_sum": "sum(i * i for i in range(150_000_000))",
    "recursion": "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(39)",
    "regex_backtracks": "import re\nre.match(r'(a|aa)+$', 'a' * 37 + 'b')",
    "lzma": "import lzma, os\nd = os.urandom(6_000_000)\nlzma.compress(d, preset=9)\nlzma.compress(d * 4, preset=9)",
    "asks_for_input": "input('name? ')",
    "socket_drips": "import socket, threading, time\na, b = socket.socketpair()\ndef drip():\n    for _ in range(9): time.sleep(1.5); b.send(b'x')\n    b.close()\nthreading.Thread(target=drip).start()\nwhile a.recv(1): pass",
    "lines_of_a_slow_child": "import subprocess\np = subprocess.Popen(['sh', '-c', 'for i in 1 2 3 4 5 6 7; do sleep 2; echo $i; done'], stdout=subprocess.PIPE)\nfor line in p.stdout: pass",
    "polls_with_short_sleeps": "import time, os\nt = time.time()\nwhile not os.path.exists('/tmp/never') and time.time() - t < 14: time.sleep(.2)",
    "event_with_a_timeout": "import threading\nthreading.Event().wait(14)",
    "queue_with_a_timeout": "import queue\ntry: queue.Queue().get(timeout=14)\nexcept queue.Empty: pass",
    "select_with_a_timeout": "import select\nselect.select([], [], [], 14)",
    "await_with_a_timeout": "import asyncio\ntry: await asyncio.wait_for(asyncio.Event().wait(), 14)\nexcept asyncio.TimeoutError: pass",
    "fsync_loop": "import os, tempfile, time\nt = time.time()\nwith tempfile.TemporaryFile() as f:\n    while time.time() - t < 14: f.write(b'x' * 4096); f.flush(); os.fsync(f.fileno())",
    "sqlite_inserts": "import sqlite3\nc = sqlite3.connect(':memory:'); c.execute('create table t (a, b)')\nc.executemany('insert into t values (?, ?)', ((i, str(i)) for i in range(8_000_000)))",
    "throttled_download": "import http.server, threading, time, urllib.request\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(200); self.end_headers()\n        for _ in range(28): self.wfile.write(b'x' * 2000); self.wfile.flush(); time.sleep(.5)\n    def log_message(self, *a): pass\ns = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()\nurllib.request.urlopen('http://127.0.0.1:%d/' % s.server_port).read()",
    "for_loop_of_nothing": "for _ in range(400_000_000): pass",
    "forked_child_sleeps": "import os, time\np = os.fork()\nif p == 0:\n    time.sleep(14); os._exit(0)\nos.waitpid(p, 0)",
    "alarm_then_pause": "import signal\nsignal.signal(signal.SIGALRM, lambda *a: None); signal.alarm(14)\nsignal.pause()",
}


def kernel_env():
    at = ROOT / "stall_env"
    if not (at / "share/jupyter/kernels/python3-guarded").exists():
        shutil.rmtree(at, ignore_errors=True)
        uv = str(ROOT / "tools/bin/uv")
        subprocess.run([uv, "venv", "-q", "--python", next((pathlib.Path.home() / ".pyenv/versions").glob("3.11.*")) / "bin/python", at], check=True)
        subprocess.run([uv, "pip", "install", "-q", "--python", at / "bin/python", "ipykernel", "numpy"], check=True, env=os.environ | {"UV_CACHE_DIR": str(ROOT / "uvcache")})
        subprocess.run([at / "bin/python", "-m", "ipykernel", "install", "--prefix", at], check=True, capture_output=True)
        subprocess.run([PLIMSOLL, "kernel", "install", "--prefix", at, "--memory", "2GiB", "--stall-notice", "5"], check=True, env=os.environ | {"JUPYTER_PATH": str(at / "share/jupyter")})
    os.environ["JUPYTER_PATH"] = str(at / "share/jupyter")


def watch(cell, seconds=16):
    from jupyter_client.manager import KernelManager
    m = KernelManager(kernel_name=KERNEL)
    m.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    c = m.blocking_client(); c.start_channels()
    said, status, ended = [], None, None
    try:
        c.wait_for_ready(timeout=60)
        start, mid = time.time(), c.execute(cell, allow_stdin=True)
        while time.time() - start < seconds and ended is None:
            try:
                msg = c.get_iopub_msg(timeout=.5)
            except queue.Empty:
                continue
            if msg["parent_header"].get("msg_id") != mid:
                continue
            kind, content = msg["msg_type"], msg["content"]
            if kind == "stream":
                said.append(content["text"])
            elif kind in ("display_data", "update_display_data"):
                said.append(json.dumps(content["data"]))
            elif kind == "error":
                status = content["ename"] + ": " + content["evalue"]
            elif kind == "status" and content["execution_state"] == "idle":
                ended = round(time.time() - start, 1)
    finally:
        c.stop_channels(); m.shutdown_kernel(now=True)
    return {"said": "".join(said), "ended": ended, "error": status}


def one(name):
    try:
        if name in STALL:
            cell, says, where = STALL[name]
            r = watch(cell)
            verdict = "missed" if not r["said"] else "right" if re.search(says, r["said"], re.I) else "wrong kind"
            if verdict == "right" and where and where not in r["said"]:
                verdict = "no stack"
            return {"case": name, "group": "stall", "verdict": verdict, **r}
        r = watch(WORK[name])
        return {"case": name, "group": "work", "verdict": "false alarm" if r["said"] else "cell failed" if r["error"] else "left alone", **r}
    except Exception as e:
        return {"case": name, "group": "stall" if name in STALL else "work", "verdict": f"trouble: {e}"}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cases", nargs="*"); p.add_argument("--json"); p.add_argument("--jobs", type=int, default=5); p.add_argument("--plain", action="store_true", help="the cells in a kernel without guard: do they behave as meant?")
    a = p.parse_args()
    kernel_env()
    if a.plain:
        global KERNEL
        KERNEL = "python3"
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        rows = []
        for r in pool.map(one, a.cases or [*STALL, *WORK]):
            rows.append(r); print(f"{r['case']:34} {r['group']:6} {r['verdict']:12} ended {r.get('ended')}  {r.get('error') or ''}", flush=True)
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
