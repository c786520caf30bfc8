"""Ways to die, to take too much memory, to hang, and to work. KIND, NAME, what is right, piece of the line to be shown, cell. `run.py` says what each kind asks for."""
import textwrap

CELLS = []
DEAD = r"deadlock"


def cell(kind, name, right, line, code):
    code = textwrap.dedent(code).strip()
    CELLS.append((kind, name, right, line, code))


# --- deaths: `right` is the causes that are right, | between them, and after ; what has to be said ---
cell("death", "panic_of_a_rust_extension", "aborted|failed_check;index out of bounds", "lib.panic", "LIB\nlib.panic()")
cell("death", "pure_virtual_call", "aborted|failed_check;pure virtual", "lib.pure_virtual", "LIB\nlib.pure_virtual()")
cell("death", "thread_destroyed_without_join", "aborted|failed_check;terminate called", "lib.thread_not_joined", "LIB\nlib.thread_not_joined()")
cell("death", "index_past_a_checked_vector", "aborted|failed_check;[Aa]ssertion", "past_the_vector", "LIB\nprint(lib.past_the_vector(3))")
cell("death", "copy_found_by_fortify", "aborted|failed_check;buffer overflow detected", "copy_too_much", "LIB\nlib.copy_too_much(4000)")
cell("death", "realloc_of_the_middle_of_a_block", "aborted|failed_check|segfault;realloc|invalid", "realloc_of_the", "LIB\nlib.realloc_of_the_middle()")
cell("death", "least_integer_divided_by_minus_one", "arithmetic", "least_divided", "LIB\nprint(lib.least_divided(-2**31, -1))")
cell("death", "fault_inside_an_openmp_region", "segfault", "lib.region", "LIB\nlib.region.restype = ctypes.c_double\nprint(lib.region(3000))")
cell("death", "native_stack_overflow_in_a_thread_of_python", "stack_overflow", "lib.deep", """
    LIB
    import threading
    threading.stack_size(1 << 20)
    def work(): lib.deep(0)
    t = threading.Thread(target=work); t.start(); t.join()
    """)
cell("death", "pickle_of_a_deep_list", "stack_overflow", "pickle.dumps", """
    import pickle, sys
    sys.setrecursionlimit(10**7)
    x = []
    for _ in range(1_000_000): x = [x]
    pickle.dumps(x)
    """)
cell("death", "breakpoint_left_in_a_release", "terminated|illegal_instruction|aborted;SIGTRAP|[Tt]race", "", "LIB\nprint('before')\nlib.breakpoint()")
cell("death", "quick_exit_of_a_library", "exited;\\b9\\b", "", "LIB\nlib.leave_quickly(9)")
cell("death", "file_larger_than_the_limit", "terminated;SIGXFSZ|file size|File size", "", """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    with open('weights.bin', 'wb', buffering=0) as f:
        for _ in range(100): f.write(bytes(100_000))
    """)
cell("death", "hard_limit_of_processor_time", "outside_kill|terminated;[Pp]rocessor|CPU", "", """
    import resource, time
    used = int(time.process_time()) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (used, used))
    while True: sum(range(1000))
    """)
cell("death", "hangup_from_a_child", "terminated;SIGHUP|[Hh]angup", "", """
    import subprocess, time
    subprocess.Popen('sleep 1; kill -HUP $PPID', shell=True)
    time.sleep(20)
    """)
cell("death", "real_time_signal_without_a_handler", "terminated", "", "import os, signal, time\nos.kill(os.getpid(), signal.SIGRTMIN + 3)\ntime.sleep(20)")
cell("death", "digest_of_a_map_cut_off_meanwhile", "bus_error", "sha256(m)", """
    import hashlib, mmap, os
    with open('model.bin', 'wb') as f: f.truncate(400 << 20)
    f = open('model.bin', 'r+b')
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
    os.truncate('model.bin', 100 << 20)
    print(hashlib.sha256(m).hexdigest())
    """)
cell("death", "exit_raised_by_a_callback_of_the_loop", "exited", "", """
    import asyncio, sys
    asyncio.get_running_loop().call_later(1, sys.exit, 4)
    await asyncio.sleep(20)
    """)
cell("death", "stops_the_loop_of_the_kernel", "exited", "", """
    import asyncio
    asyncio.get_running_loop().call_later(1, asyncio.get_running_loop().stop)
    await asyncio.sleep(20)
    """)
cell("death", "fault_after_faulthandler_was_disabled", "segfault", "", """
    import faulthandler, ctypes
    faulthandler.disable()
    ctypes.string_at(0x30)
    """)
cell("death", "fault_with_a_faulthandler_of_its_own", "segfault", "ctypes.string_at", """
    import faulthandler, ctypes
    own = open('faults.txt', 'w')
    faulthandler.enable(own)
    ctypes.string_at(0x30)
    """)
cell("death", "write_to_a_page_made_read_only", "segfault", "m[5] = 1", """
    import ctypes, mmap
    import numpy as np
    m = np.frombuffer(mmap.mmap(-1, 8192), np.uint8)
    libc = ctypes.CDLL(None)
    assert libc.mprotect(ctypes.c_void_p(m.ctypes.data), ctypes.c_size_t(8192), 1) == 0
    m[5] = 1
    """)
cell("death", "fault_in_a_script_that_is_run", "segfault", "ctypes.memset", """
    with open('train.py', 'w') as f: f.write('import ctypes\\ndef step():\\n    ctypes.memset(64, 0, 8)\\nstep()\\n')
    %run train.py
    """)
cell("death", "module_that_faults_as_it_is_imported", "segfault", "import broken_binding", """
    open('broken_binding.py', 'w').write('import ctypes\\nctypes.string_at(24)\\n')
    import broken_binding
    """)
cell("death", "fault_beside_a_thread_that_prints", "segfault", "ctypes.string_at", """
    import ctypes, threading, time
    def talk():
        while True: print('.', end=''); time.sleep(.002)
    threading.Thread(target=talk, daemon=True).start()
    time.sleep(1)
    ctypes.string_at(1)
    """)

# --- lives: the same kernel goes on, `right` is a regular expression for what is said ---
cell("lives", "forked_child_that_faults", r"status 11", "", """
    import ctypes, os
    pid = os.fork()
    if pid == 0: ctypes.string_at(0)
    print('status', os.waitpid(pid, 0)[1] & 127)
    """)
cell("lives", "memory_error_that_is_caught", r"^done", "", """
    import numpy as np
    try: a = np.ones(10**12)
    except MemoryError: a = np.ones(10)
    print('done')
    """)
cell("lives", "segfault_of_a_subprocess_with_faulthandler", r"-11", "", """
    import subprocess, sys
    p = subprocess.run([sys.executable, '-X', 'faulthandler', '-c', 'import ctypes; ctypes.string_at(0)'])
    print(p.returncode)
    """)

# --- memory: refused or interrupted with a word, or a death that is a want of memory. The line is at 700 MiB; the cell ends by itself at 2.5 GiB ---
cell("memory", "product_with_its_transpose", "", "", """
    import numpy as np
    a = np.random.rand(18_000, 200)
    g = a @ a.T
    print('took it all', g[0, 0])
    """)
cell("memory", "dummies_of_a_column_of_names", "", "", """
    import pandas as pd
    d = pd.get_dummies(pd.Series([f'user{i}' for i in range(50_000)]))
    print('took it all', d.shape)
    """)
cell("memory", "bytearray_that_grows", "", "", """
    b = bytearray()
    while len(b) < 2500 << 20: b += b'x' * 1_000_000
    print('took it all')
    """)
cell("memory", "list_of_a_generator", "", "", """
    rows = list(str(i) * 4 for i in range(24_000_000))
    print('took it all')
    """)
cell("memory", "json_of_many_rows", "", "", """
    import json
    one = json.dumps([{'id': i, 'name': f'name {i}', 'tags': ['a', 'b', str(i)]} for i in range(1000)])
    rows = [json.loads(one) for _ in range(5_000)]
    print('took it all')
    """)
cell("memory", "output_of_a_command_captured", "", "", """
    import subprocess
    out = subprocess.run('yes a line of a log file | head -c 2500M', shell=True, capture_output=True).stdout
    print('took it all', len(out))
    """)
cell("memory", "vector_of_a_library_that_grows", "", "", """
    LIB
    lib.grow_a_vector.argtypes = [ctypes.c_long]
    lib.grow_a_vector(330_000_000)
    print('took it all')
    """)
cell("memory", "memfd_that_is_written", "", "", """
    import os
    fd = os.memfd_create('frames')
    for i in range(2500): os.write(fd, b'x' * (1 << 20))
    print('took it all')
    """)
cell("memory", "forks_that_write_what_they_share", "", "", """
    import multiprocessing as mp, numpy as np, time
    a = np.ones(300 << 17)
    def work(i):
        a[:] = i; time.sleep(8)
    ps = [mp.get_context('fork').Process(target=work, args=(i,)) for i in range(7)]
    for p in ps: p.start()
    for p in ps: p.join()
    codes = [p.exitcode for p in ps]
    if any(codes): raise MemoryError(f'children failed: {codes}')
    print('took it all')
    """)
cell("memory", "tasks_of_asyncio_that_keep_rows", "", "", """
    import asyncio
    async def keep(): row = list(range(3000)); await asyncio.sleep(60); return row
    await asyncio.gather(*(keep() for _ in range(24_000)))
    print('took it all')
    """)
cell("memory", "results_of_a_pool_of_threads", "", "", """
    import numpy as np
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(4) as ex: got = list(ex.map(lambda i: np.ones(1 << 20), range(320)))
    print('took it all')
    """)
cell("cells", "leak_over_cells_then_freed", "", "", """
    import numpy as np; kept = []
    ---
    kept.append(np.random.rand(60 << 17))
    ---
    kept.clear(); a = np.ones(200 << 17); print('done')
    """)

# --- fits (line at 700 MiB): done without a word of the guard ---
cell("fits", "file_read_through_a_map", "done", "", """
    import numpy as np
    with open('rows.bin', 'wb') as f:
        for _ in range(150): f.write(np.random.bytes(10 << 20))
    a = np.memmap('rows.bin', np.uint8)
    for _ in range(3): print(int(a.sum()))
    print('done')
    """)
cell("fits", "h5_read_in_pieces", "done", "", """
    import h5py, numpy as np
    with h5py.File('rows.h5', 'w') as f:
        d = f.create_dataset('x', (1500, 131072), 'f8')
        for i in range(1500): d[i] = np.random.rand(131072)
    with h5py.File('rows.h5') as f:
        for _ in range(2): s = sum(float(f['x'][i:i + 50].sum()) for i in range(0, 1500, 50))
    print('done')
    """)
cell("fits", "children_that_only_read_what_they_share", "done", "", """
    import multiprocessing as mp, numpy as np, time
    a = np.ones(400 << 17)
    def work(i): time.sleep(3); return float(a.sum())
    with mp.get_context('fork').Pool(5) as pool: print(pool.map(work, range(10)))
    print('done')
    """)
cell("fits", "reservation_never_touched", "done", "", """
    import numpy as np, mmap
    m = mmap.mmap(-1, 3 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    for i in range(100): m[i * 4096] = 1
    print('done')
    """)

# --- stalls: `right` is a regular expression for what is said within 80 s ---
cell("stall", "two_locks_in_opposite_order", DEAD, "t.join", """
    import threading, time
    a, b = threading.Lock(), threading.Lock()
    def one(x, y):
        with x:
            time.sleep(.5)
            with y: pass
    ts = [threading.Thread(target=one, args=p) for p in ((a, b), (b, a))]
    for t in ts: t.start()
    for t in ts: t.join()
    """)
cell("stall", "join_of_a_queue_with_a_task_too_many", DEAD, "q.join", """
    import queue, threading
    q = queue.Queue()
    def work():
        while True:
            i = q.get()
            if i != 3: q.task_done()
    threading.Thread(target=work, daemon=True).start()
    for i in range(5): q.put(i)
    q.join()
    """)
cell("stall", "barrier_with_a_party_too_few", DEAD, "b.wait", """
    import threading
    b = threading.Barrier(3)
    threading.Thread(target=b.wait).start()
    b.wait()
    """)
cell("stall", "semaphore_of_processes_taken_twice", DEAD, "s.acquire", """
    import multiprocessing as mp
    s = mp.get_context('fork').Semaphore(1)
    s.acquire()
    s.acquire()
    """)
cell("stall", "spawned_pool_cannot_find_the_function", DEAD + "|child|died|ended|process", "pool.map", """
    import multiprocessing as mp
    def square(x): return x * x
    pool = mp.get_context('spawn').Pool(2)
    print(pool.map(square, range(4)))
    """)
cell("stall", "awaits_the_queue_nobody_fills", DEAD + "|await", "q.get", """
    import asyncio
    q = asyncio.Queue()
    async def consume(): return await q.get()
    await consume()
    """)
cell("stall", "result_of_a_coroutine_sent_to_the_own_loop", DEAD, ".result()", """
    import asyncio
    async def fetch(): return 5
    loop = asyncio.get_running_loop()
    def get(): return asyncio.run_coroutine_threadsafe(fetch(), loop).result()
    get()
    """)
cell("stall", "awaits_an_executor_whose_thread_waits", DEAD + "|await", "", """
    import asyncio, queue
    q = queue.Queue()
    await asyncio.get_running_loop().run_in_executor(None, q.get)
    """)
cell("stall", "wait_for_a_child_whose_output_is_full", DEAD + "|pipe", "p.wait", """
    import subprocess
    p = subprocess.Popen(['seq', '1000000'], stdout=subprocess.PIPE)
    p.wait()
    """)
cell("stall", "child_that_waits_for_a_line_of_ours", DEAD + "|pipe|child", "p.wait", """
    import subprocess, sys
    p = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)
    p.wait()
    """)
cell("stall", "lock_held_at_the_fork", DEAD + "|child", "p.join", """
    import multiprocessing as mp, threading, time
    lock = threading.Lock()
    def hold():
        with lock: time.sleep(2)
    threading.Thread(target=hold).start()
    def work():
        with lock: pass
    p = mp.get_context('fork').Process(target=work); p.start()
    p.join()
    """)
cell("stall", "thread_that_spins_and_is_joined", r"spin|over and over", "", """
    import threading
    ready = False
    def spin():
        while not ready: pass
    t = threading.Thread(target=spin); t.start(); t.join()
    """)
cell("stall", "file_lock_of_a_program_that_lives_on", r"lock", "fcntl.flock", """
    import fcntl, subprocess, sys, time
    f = open('train.lock', 'w')
    p = subprocess.Popen([sys.executable, '-c', 'import fcntl, signal\\nf = open("train.lock", "w"); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True)\\nsignal.pause()'], stdout=subprocess.PIPE, start_new_session=True)
    p.stdout.readline()
    fcntl.flock(f, fcntl.LOCK_EX)
    """)
cell("stall", "accept_without_a_client", r"I/O|network|socket|connection", "s.accept", """
    import socket
    s = socket.create_server(('127.0.0.1', 0))
    s.accept()
    """)
cell("stall", "pair_of_sockets_both_ends_here", DEAD, "a.recv", """
    import socket
    a, b = socket.socketpair()
    a.recv(10)
    """)
cell("stall", "import_that_waits_for_a_thread_that_imports", DEAD, "import pipeline", """
    open('pipeline.py', 'w').write('import threading\\ndef load():\\n    from pipeline import rows\\nt = threading.Thread(target=load)\\nt.start()\\nt.join()\\nrows = []\\n')
    import sys; sys.path.insert(0, '.')
    import pipeline
    """)
cell("stall", "condition_nobody_notifies", DEAD, "c.wait", """
    import threading
    c = threading.Condition()
    with c: c.wait()
    """)
cell("stall", "worker_of_a_pool_stopped", r"stop", "pool.map", """
    import multiprocessing as mp, os, signal
    def work(i): os.kill(os.getpid(), signal.SIGSTOP)
    with mp.get_context('fork').Pool(2) as pool: pool.map(work, range(2))
    """)
cell("stall", "native_mutex_locked_twice", DEAD, "lib.mutex_twice", "LIB\nlib.mutex_twice()")
cell("stall", "native_semaphore_never_posted", DEAD, "lib.semaphore", "LIB\nlib.semaphore_never_posted()")
cell("stall", "named_pipe_without_a_writer", r"FIFO|pipe|I/O|deadlock", "open('rows')", """
    import os
    os.mkfifo('rows')
    open('rows').read()
    """)
cell("stall", "waits_for_a_signal_nobody_sends", r"signal", "sigwait", "import signal\nsignal.sigwait([signal.SIGUSR1])")
cell("stall", "queue_of_workers_that_were_killed", DEAD + "|child|killed|died", "q.get", """
    import multiprocessing as mp, os, signal, time
    ctx = mp.get_context('fork')
    q = ctx.Queue()
    def work(i):
        if i: os.kill(os.getpid(), signal.SIGKILL)
        q.put(i)
    ps = [ctx.Process(target=work, args=(i,)) for i in range(3)]
    for p in ps: p.start()
    for _ in range(3): q.get()
    """)
cell("stall", "executor_left_with_a_thread_that_waits", DEAD, "with ThreadPoolExecutor", """
    import threading
    from concurrent.futures import ThreadPoolExecutor
    go = threading.Event()
    with ThreadPoolExecutor(2) as ex:
        ex.submit(go.wait)
    """)
cell("stall", "parent_and_child_both_wait_to_receive", DEAD + "|pipe|child", "here.recv", """
    import multiprocessing as mp
    ctx = mp.get_context('fork')
    here, there = ctx.Pipe()
    def work(): there.send(there.recv() + 1)
    p = ctx.Process(target=work); p.start()
    here.recv()
    """)
cell("stall", "socket_of_zmq_without_a_sender", r"I/O|network|socket|" + DEAD, "s.recv", """
    import zmq
    s = zmq.Context().socket(zmq.PULL)
    s.bind('tcp://127.0.0.1:*')
    s.recv()
    """)
cell("stall", "select_of_nothing", DEAD + "|signal|nothing", "select.select", "import select\nselect.select([], [], [])")
cell("stall", "server_in_a_thread_waits_for_our_lock", DEAD, "urlopen", """
    import http.server, threading, urllib.request
    lock = threading.Lock()
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            with lock: self.send_response(200); self.end_headers()
    s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    with lock: urllib.request.urlopen(f'http://127.0.0.1:{s.server_port}/').read()
    """)
cell("stall", "lock_of_asyncio_taken_twice", DEAD + "|await|no other task", "lock", """
    import asyncio
    lock = asyncio.Lock()
    async def save():
        async with lock: pass
    async with lock:
        await save()
    """)
cell("stall", "pool_closed_and_joined_with_a_worker_in_a_lock", DEAD + "|child", "pool.join", """
    import multiprocessing as mp
    ctx = mp.get_context('fork')
    lock = ctx.Lock(); lock.acquire()
    def work(i):
        with lock: return i
    pool = ctx.Pool(2)
    pool.map_async(work, range(4))
    pool.close()
    pool.join()
    """)

# --- working: runs some 45 s; nothing is shown but what the cell prints. `asks`: the user answers `right` after 45 s ---
BUSY = "import time\\ne = time.time() + {}\\nwhile time.time() < e: sum(range(1000))"
cell("works", "output_of_a_computing_child_captured", "done", "", f"""
    import subprocess, sys
    subprocess.run([sys.executable, '-c', '{BUSY.format(44)}'], capture_output=True)
    print('done')
    """)
cell("works", "one_long_key_derivation", "done", "", """
    import hashlib, time
    t = time.time(); hashlib.pbkdf2_hmac('sha256', b'a', b'b', 300_000); t = time.time() - t
    hashlib.pbkdf2_hmac('sha256', b'a', b'b', int(300_000 * 44 / t))
    print('done')
    """)
cell("works", "compression_of_one_block", "done", "", """
    import lzma, os, time
    block = os.urandom(4 << 20); end = time.time() + 44
    while time.time() < end: lzma.compress(block, preset=9)
    print('done')
    """)
cell("works", "sleeps_of_all_kinds", "done", "", """
    import asyncio, select, threading, time
    time.sleep(9)
    threading.Event().wait(9)
    select.select([], [], [], 9)
    await asyncio.sleep(9)
    select.poll().poll(9000)
    print('done')
    """)
cell("works", "waits_for_a_signal_with_a_limit", "done", "", "import signal\nsignal.sigtimedwait([signal.SIGUSR1], 44)\nprint('done')")
cell("works", "alarm_that_ends_a_pause", "done", "", """
    import signal
    signal.signal(signal.SIGALRM, lambda *a: None)
    signal.setitimer(signal.ITIMER_REAL, 44)
    signal.pause()
    print('done')
    """)
cell("works", "timer_descriptor_that_is_read", "done", "", """
    import ctypes, os, struct
    libc = ctypes.CDLL(None)
    fd = libc.timerfd_create(1, 0)
    libc.timerfd_settime(fd, 0, struct.pack('qqqq', 0, 0, 44, 0), None)
    os.read(fd, 8)
    print('done')
    """)
cell("works", "locks_and_queues_with_a_limit", "done", "", """
    import queue, threading
    lock = threading.Lock(); lock.acquire()
    lock.acquire(timeout=15)
    try: queue.Queue().get(timeout=15)
    except queue.Empty: pass
    c = threading.Condition()
    with c: c.wait(15)
    print('done')
    """)
cell("works", "native_wait_with_a_limit", "done", "", "LIB\nlib.waits_with_a_limit(44)\nprint('done')")
cell("works", "native_thread_that_naps", "done", "", "LIB\nlib.joins_a_thread_that_naps(15, 3)\nprint('done')")
cell("works", "native_thread_that_calls_back", "done", "", """
    LIB
    import time
    @ctypes.CFUNCTYPE(None, ctypes.c_int)
    def step(i): time.sleep(4)
    lib.calls_back_from_a_thread(step, 11)
    print('done')
    """)
cell("works", "native_workers_that_compute", "done", "", "LIB\nlib.workers_and_a_counter(44)\nprint('done')")
cell("works", "numba_without_the_interpreters_lock", "done", "", """
    import numba, time
    @numba.njit(nogil=True)
    def walk(n):
        x = 1.0
        for i in range(n): x = (x * 1.0000001 + i) % 1000.0
        return x
    walk(10); t = time.time(); walk(20_000_000); t = time.time() - t
    walk(int(20_000_000 * 44 / t))
    print('done')
    """)
cell("works", "eigenvalues_in_one_call", "done", "", """
    import numpy as np, time
    n, t = 100, 0
    while t < 2: n = int(n * 1.3); a = np.random.rand(n, n); t = time.time(); np.linalg.eigvals(a); t = time.time() - t
    np.linalg.eigvals(np.random.rand(*[int(n * (42 / t) ** (1 / 3))] * 2))
    print('done')
    """)
cell("works", "server_with_a_request_now_and_then", "done", "", """
    import http.server, threading, time, urllib.request
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b'ok')
        def log_message(self, *a): pass
    s = http.server.HTTPServer(('127.0.0.1', 0), Handler)
    def visit():
        for _ in range(4): time.sleep(11); urllib.request.urlopen(f'http://127.0.0.1:{s.server_port}/').read()
        s.shutdown()
    threading.Thread(target=visit).start()
    s.serve_forever()
    print('done')
    """)
cell("works", "asyncio_server_open_for_a_while", "done", "", """
    import asyncio
    async def answer(r, w): w.write(await r.read(10)); w.close()
    s = await asyncio.start_server(answer, '127.0.0.1', 0)
    try: await asyncio.wait_for(s.serve_forever(), 44)
    except asyncio.TimeoutError: pass
    print('done')
    """)
cell("works", "download_that_drips", "done", "", """
    import multiprocessing as mp, socket, time, urllib.request
    s = socket.create_server(('127.0.0.1', 0))
    def serve():
        c, _ = s.accept(); c.recv(1000)
        c.sendall(b'HTTP/1.0 200 OK\\r\\nContent-Length: 11000\\r\\n\\r\\n')
        for _ in range(11): time.sleep(4); c.sendall(bytes(1000))
    p = mp.get_context('fork').Process(target=serve); p.start()
    print(len(urllib.request.urlopen(f'http://127.0.0.1:{s.getsockname()[1]}/').read()))
    print('done')
    """)
cell("works", "gather_of_sleeps_and_threads", "done", "", """
    import asyncio, time
    def busy(s):
        e = time.time() + s
        while time.time() < e: sum(range(1000))
    await asyncio.gather(asyncio.sleep(20), asyncio.to_thread(busy, 44), asyncio.to_thread(time.sleep, 40))
    print('done')
    """)
cell("works", "coroutine_awaits_a_thread_that_sleeps", "done", "", "import asyncio, time\nawait asyncio.to_thread(time.sleep, 44)\nprint('done')")
cell("works", "processes_of_an_executor_that_sleep", "done", "", """
    import multiprocessing as mp, time
    from concurrent.futures import ProcessPoolExecutor, as_completed
    with ProcessPoolExecutor(2, mp_context=mp.get_context('fork')) as ex:
        for f in as_completed([ex.submit(time.sleep, 15) for _ in range(6)]): f.result()
    print('done')
    """)
cell("works", "helper_that_computes_each_answer", "done", "", f"""
    import subprocess, sys
    code = 'import sys, time\\nfor l in sys.stdin:\\n    e = time.time() + 15\\n    while time.time() < e: sum(range(1000))\\n    print(l, end="", flush=True)'
    p = subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for i in range(3): p.stdin.write(f'{{i}}\\n'); p.stdin.flush(); p.stdout.readline()
    p.stdin.close()
    print('done')
    """)
cell("works", "polls_of_zmq", "done", "", """
    import time, zmq
    s = zmq.Context().socket(zmq.PULL)
    s.bind('tcp://127.0.0.1:*')
    end = time.time() + 44
    while time.time() < end: s.poll(5000)
    print('done')
    """)
cell("works", "escape_to_the_shell_that_sleeps", "done", "", "!sleep 44\nprint('done')")
cell("works", "bash_magic_that_computes", "done", "", "%%bash\ne=$((SECONDS + 44))\nwhile [ $SECONDS -lt $e ]; do :; done\necho done")
cell("works", "programs_one_after_the_other", "done", "", f"""
    import subprocess, sys
    for _ in range(6): subprocess.run([sys.executable, '-c', '{BUSY.format(7)}'], check=True)
    print('done')
    """)
cell("works", "one_long_query", "done", "", """
    import sqlite3, time
    db = sqlite3.connect(':memory:')
    q = 'with recursive c(x) as (select 1 union all select x + 1 from c where x < {}) select sum(x % 7) from c'
    t = time.time(); db.execute(q.format(2_000_000)).fetchall(); t = time.time() - t
    db.execute(q.format(int(2_000_000 * 44 / t))).fetchall()
    print('done')
    """)
cell("works", "import_that_takes_long", "done", "", """
    import sys; sys.path.insert(0, '.')
    open('tables.py', 'w').write('import time\\ne = time.time() + 44\\nwhile time.time() < e:\\n    t = {i: str(i) for i in range(1000)}\\n')
    import tables
    print('done')
    """)
cell("works", "big_file_read_with_pauses", "done", "", """
    import hashlib, time
    with open('big.bin', 'wb') as f: f.truncate(440 << 20)
    h = hashlib.md5()
    with open('big.bin', 'rb') as f:
        while b := f.read(10 << 20): h.update(b); time.sleep(1)
    print('done')
    """)
cell("works", "watcher_thread_sets_an_event", "done", "", """
    import os, threading, time
    found = threading.Event()
    def watch():
        end = time.time() + 44
        while not os.path.exists('result') and time.time() < end: time.sleep(1)
        found.set()
    threading.Thread(target=watch).start()
    found.wait()
    print('done')
    """)
cell("works", "regular_expression_that_backtracks", "done", "", r"""
    import re, time
    n, t = 16, 0
    while t < 12: n += 1; t = time.time(); re.match(r'(a+)+b', 'a' * n); t = time.time() - t
    re.match(r'(a+)+b', 'a' * (n + 1))
    print('done')
    """)
cell("works", "queue_of_a_manager_fed_slowly", "done", "", """
    import multiprocessing as mp, time
    ctx = mp.get_context('fork')
    m = ctx.Manager(); q = m.Queue()
    def feed():
        for i in range(4): time.sleep(11); q.put(i)
    p = ctx.Process(target=feed); p.start()
    for _ in range(4): q.get()
    print('done')
    """)
cell("asks", "input_answered_late", "Anna", "", "name = input('name? ')\nprint('done')")
cell("asks", "debugger_left_open", "c", "", "import pdb\ndef f(x):\n    pdb.set_trace()\n    return x\nf(3)\nprint('done')")
