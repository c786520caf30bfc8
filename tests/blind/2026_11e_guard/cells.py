"""Ways to die, to take too much memory, to hang, and to work, as users of TensorFlow, PyTorch, OpenCV, pandas and processes meet them.

KIND, NAME, what is right, piece of the line to be shown, cell. `run.py` says what each kind asks for."""
import textwrap

CELLS = []
DEAD = r"deadlock"


def cell(kind, name, right, line, code):
    CELLS.append((kind, name, right, line, textwrap.dedent(code).strip()))


# --- deaths: `right` is the causes that are right, | between them ---
cell("death", "check_of_tensorflow", "aborted|failed_check", "tf.io.gfile.exists", """
    import tensorflow as tf, ctypes, threading, os
    def check():
        os.write(2, b'F tensorflow/core/framework/tensor.cc:733] Check failed: 1 == NumElements() (1 vs. 4)Must have a one element tensor\\n')
        ctypes.CDLL(None).abort()
    threading.Timer(1, check).start()
    while True: tf.io.gfile.exists('/tmp')
    """)
cell("death", "torch_sum_beyond_the_memory", "segfault|bus_error|aborted", "t.sum", """
    import torch, numpy as np
    a = np.lib.stride_tricks.as_strided(np.ones(4), (1 << 20,), (1 << 16,))
    t = torch.from_numpy(a)
    print(float(t.sum()))
    """)
cell("death", "cv2_callback_in_a_pool_of_threads", "segfault|bus_error", "list(ex.map", """
    import cv2, numpy as np, ctypes
    from concurrent.futures import ThreadPoolExecutor
    def blur(i):
        img = np.zeros((64, 64), np.uint8)
        if i == 5: ctypes.string_at(0x50, 8)
        return cv2.blur(img, (3, 3))
    with ThreadPoolExecutor(3) as ex: list(ex.map(blur, range(20)))
    """)
cell("death", "setstate_of_a_broken_code_object", "segfault|aborted|bus_error|illegal_instruction", "f()", """
    def f(): return 1
    f.__code__ = f.__code__.replace(co_code=b'\\x64\\xff' * 1 + b'\\x53\\x00', co_stacksize=0, co_consts=())
    f()
    """)
cell("death", "numpy_view_of_an_unmapped_buffer", "segfault|bus_error", "print(a", """
    import numpy as np, mmap, ctypes
    m = mmap.mmap(-1, 1 << 20)
    a = np.frombuffer(m, np.uint8)
    libc = ctypes.CDLL(None)
    libc.munmap(ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(1 << 20))
    print(a.sum())
    """)
cell("death", "asyncio_callback_that_exits", "exited", "", """
    import asyncio, os
    asyncio.get_running_loop().call_later(1, os._exit, 12)
    await asyncio.sleep(20)
    """)
cell("death", "child_that_kills_its_parent", "outside_kill", "p.wait", """
    import subprocess
    p = subprocess.Popen('sleep 1; kill -9 $PPID; sleep 20', shell=True)
    p.wait()
    """)
cell("death", "atfork_hook_that_traps", "segfault|bus_error", "os.fork", """
    import os, ctypes
    os.register_at_fork(before=lambda: ctypes.string_at(0))
    os.fork()
    """)
cell("death", "gc_callback_that_traps", "segfault|bus_error", "", """
    import gc, ctypes
    gc.callbacks.append(lambda phase, info: ctypes.memset(8, 0, 4))
    for i in range(10**6): x = [[] for _ in range(10)]; x.append(x)
    """)
cell("death", "destructor_at_del", "segfault|bus_error|aborted", "del h", """
    import ctypes, weakref
    class Handle:
        def __del__(self): ctypes.CDLL(None).free(ctypes.c_void_p(0x1000))
    h = Handle()
    del h
    """)
cell("death", "heap_header_overwritten", "aborted|failed_check|segfault", "", """
    import ctypes
    libc = ctypes.CDLL(None)
    p = libc.malloc; p.restype = ctypes.c_void_p
    a = p(200)
    ctypes.memset(a - 8, 0x41, 8)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(a)
    """)
cell("death", "sigterm_to_the_whole_group", "terminated", "", """
    import os, signal, time
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(20)
    """)
cell("death", "exits_with_os_exit_zero_in_a_thread", "exited", "", """
    import os, threading, time
    threading.Timer(1, os._exit, (0,)).start()
    time.sleep(20)
    """)
cell("death", "hash_of_a_tuple_two_million_deep", "stack_overflow", "", """
    x = None
    for _ in range(2_000_000): x = (x,)
    hash(x)
    """)

# --- lives: the same kernel goes on, `right` is a regular expression for what is said ---
cell("lives", "loader_worker_segfaults", r"RuntimeError|exited unexpectedly|killed by signal", "", """
    import torch, ctypes
    from torch.utils.data import DataLoader, Dataset
    class Bad(Dataset):
        def __len__(self): return 8
        def __getitem__(self, i):
            if i == 3: ctypes.string_at(0)
            return torch.ones(2)
    for b in DataLoader(Bad(), num_workers=2): pass
    """)
cell("lives", "pool_of_processes_breaks", r"BrokenProcessPool", "", """
    import os, multiprocessing as mp
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2, mp_context=mp.get_context('fork')) as ex: list(ex.map(os._exit, [3, 4]))
    """)
cell("lives", "joblib_worker_is_killed", r"TerminatedWorkerError|terminated", "", """
    import os, joblib
    joblib.Parallel(n_jobs=2)(joblib.delayed(os.abort)() for i in range(2))
    """)
cell("lives", "resource_limit_of_a_child", r"-9|-24|killed|CPU", "", """
    import subprocess
    print(subprocess.run('ulimit -t 1; while :; do :; done', shell=True).returncode)
    """)

# --- memory: refused or interrupted with a word, or a death that is a want of memory. The line is at 700 MiB; the cell ends by itself at 2.5 GiB ---
cell("memory", "tf_variable_too_large", "", "", """
    import tensorflow as tf
    v = tf.Variable(tf.ones((18_000, 18_000)))
    print('took it all', float(v[0, 0]))
    """)
cell("memory", "keras_dense_far_too_wide", "", "", """
    import tensorflow as tf
    m = tf.keras.Sequential([tf.keras.Input((20_000,)), tf.keras.layers.Dense(18_000)])
    print('took it all', m.count_params())
    """)
cell("memory", "opencv_resize_of_a_huge_image", "", "", """
    import cv2, numpy as np
    img = cv2.resize(np.zeros((100, 100, 3), np.uint8), (24_000, 24_000))
    print('took it all', img.shape)
    """)
cell("memory", "frames_of_pandas_concatenated", "", "", """
    import pandas as pd, numpy as np
    df = pd.DataFrame(np.ones((20_000, 20)))
    for _ in range(800): df = pd.concat([df, pd.DataFrame(np.ones((20_000, 20)))])
    print('took it all', len(df))
    """)
cell("memory", "strings_of_a_csv_read", "", "", """
    import pandas as pd
    with open('rows.csv', 'w') as f:
        for i in range(3_000_000): f.write(f'name number {i},{i},city {i % 1000}\\n')
    df = pd.read_csv('rows.csv', header=None)
    kept = [df.copy() for _ in range(9)]
    kept = [d[0].str.split(' ', expand=True) for d in kept]
    print('took it all')
    """)
cell("memory", "two_children_each_within_the_line", "", "", """
    import subprocess, sys
    code = 'import time\\nx = bytearray(900 << 20)\\nfor i in range(0, len(x), 4096): x[i] = 1\\nprint("took it all", flush=True); time.sleep(4)'
    ps = [subprocess.Popen([sys.executable, '-c', code]) for _ in range(2)]
    codes = [p.wait() for p in ps]
    print('codes', codes)
    if any(codes): raise MemoryError('a child failed')
    """)
cell("memory", "forked_workers_killed_for_memory", "", "", """
    import multiprocessing as mp
    def eat(i):
        kept = []
        for _ in range(6_000): kept.append(bytes(60_000))
        return len(kept)
    with mp.get_context('fork').Pool(5) as pool: got = pool.map(eat, range(5), chunksize=1)
    print('took it all', got)
    """)
cell("memory", "workers_of_a_loader_cache_rows", "", "", """
    import torch
    from torch.utils.data import DataLoader, Dataset
    class Caching(Dataset):
        kept = []
        def __len__(self): return 4000
        def __getitem__(self, i): self.kept.append(torch.ones(150_000)); return torch.ones(2)
    for b in DataLoader(Caching(), num_workers=2, batch_size=10): pass
    print('took it all')
    """)
cell("memory", "deep_recursion_of_plain_python", "", "", """
    import sys
    sys.setrecursionlimit(10**9)
    def walk(n): return 0 if n > 8_000_000 else walk(n + 1) + 1
    print('took it all', walk(0))
    """)

# --- stalls: `right` is a regular expression for what is said within 80 s ---
cell("stall", "dataset_from_a_generator_that_waits", DEAD + "|I/O", "next(iter", """
    import tensorflow as tf, queue
    q = queue.Queue()
    def rows():
        while True: yield q.get()
    ds = tf.data.Dataset.from_generator(rows, tf.int32)
    next(iter(ds))
    """)
cell("stall", "loader_worker_stuck_in_a_lock", DEAD, "for b in", """
    import torch, threading
    from torch.utils.data import DataLoader, Dataset
    lock = threading.Lock(); lock.acquire()
    class Stuck(Dataset):
        def __len__(self): return 8
        def __getitem__(self, i):
            with lock: return torch.ones(2)
    for b in DataLoader(Stuck(), num_workers=2): pass
    """)
cell("stall", "pool_map_whose_worker_exits", DEAD + "|child|waiting", "pool.map", """
    import multiprocessing as mp, os
    pool = mp.get_context('fork').Pool(2)
    pool.map(os._exit, [1, 1])
    """)
cell("stall", "pool_whose_initializer_exits", DEAD + "|child|waiting", "pool.map", """
    import multiprocessing as mp, os
    pool = mp.get_context('fork').Pool(2, initializer=os._exit, initargs=(1,))
    pool.map(len, ['a', 'b'])
    """)
cell("stall", "future_never_done", DEAD, "f.result", """
    from concurrent.futures import Future
    f = Future()
    f.result()
    """)
cell("stall", "executor_submits_to_itself", DEAD, ".result()", """
    from concurrent.futures import ThreadPoolExecutor
    ex = ThreadPoolExecutor(1)
    def outer(): return ex.submit(int, '3').result()
    ex.submit(outer).result()
    """)
cell("stall", "gather_of_two_that_wait_for_each_other", DEAD, "", """
    import asyncio
    a, b = asyncio.Event(), asyncio.Event()
    async def one(): await b.wait(); a.set()
    async def two(): await a.wait(); b.set()
    await asyncio.gather(one(), two())
    """)
cell("stall", "awaits_a_future_nobody_sets", DEAD + "|await", "await", """
    import asyncio
    f = asyncio.get_running_loop().create_future()
    await f
    """)
cell("stall", "blocking_call_in_a_coroutine", DEAD, "q.get", """
    import asyncio, queue
    q = queue.Queue()
    async def consume(): return q.get()
    async def produce(): await asyncio.sleep(1); q.put(1)
    await asyncio.gather(consume(), produce())
    """)
cell("stall", "ssh_that_asks_on_the_terminal", "I/O|child|process", "subprocess.run", """
    import subprocess, socket
    s = socket.create_server(('127.0.0.1', 0))
    subprocess.run(['bash', '-c', f'exec 3<>/dev/tcp/127.0.0.1/{s.getsockname()[1]}; cat <&3'])
    """)
cell("stall", "requests_without_a_timeout", "I/O|network|socket", "requests.get", """
    import requests, socket
    s = socket.create_server(('127.0.0.1', 0))
    requests.get(f'http://127.0.0.1:{s.getsockname()[1]}/weights.bin')
    """)
cell("stall", "manager_dict_of_a_stopped_server", "stopped|I/O|child|process", "d['x']", """
    import multiprocessing as mp, os, signal
    m = mp.get_context('fork').Manager()
    d = m.dict()
    os.kill(m._process.pid, signal.SIGSTOP)
    d['x'] = 1
    """)
cell("stall", "rlock_held_by_a_pool_thread", DEAD, "with lock", """
    import threading
    from concurrent.futures import ThreadPoolExecutor
    lock = threading.RLock()
    ex = ThreadPoolExecutor(1)
    ex.submit(lock.acquire).result()
    with lock: pass
    """)
cell("stall", "stdin_of_a_filter_never_closed", "I/O|child|pipe|" + DEAD, "p.stdout.read", """
    import subprocess
    p = subprocess.Popen(['sort'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdin.write('b\\na\\n'); p.stdin.flush()
    p.stdout.read()
    """)
cell("stall", "waits_for_a_flag_of_a_dead_process", r"spin|over and over", "while not", """
    import multiprocessing as mp, os
    done = mp.get_context('fork').RawValue('b', 0)
    p = mp.get_context('fork').Process(target=os._exit, args=(1,)); p.start()
    flag = False
    while not flag: pass
    """)
cell("stall", "native_call_that_keeps_the_lock", DEAD + "|signal", "", """
    import ctypes
    ctypes.PyDLL(None).pause()
    """)

# --- working: nothing is shown but what the cell prints ---
cell("works", "tf_fit_without_a_word", "done", "", """
    import tensorflow as tf, numpy as np, time
    m = tf.keras.Sequential([tf.keras.layers.Dense(200, activation='relu'), tf.keras.layers.Dense(1)]); m.compile('adam', 'mse')
    x, y = np.random.rand(4000, 50), np.random.rand(4000, 1)
    end = time.time() + 45
    while time.time() < end: m.fit(x, y, epochs=2, verbose=0)
    print('done')
    """)
cell("works", "tf_data_with_slow_map", "done", "", """
    import tensorflow as tf, time
    def slow(i): time.sleep(2); return i
    ds = tf.data.Dataset.range(22).map(lambda i: tf.py_function(slow, [i], tf.int64)).prefetch(2)
    for _ in ds: pass
    print('done')
    """)
cell("works", "tf_generator_that_sleeps_between_rows", "done", "", """
    import tensorflow as tf, time
    def rows():
        for i in range(5): time.sleep(9); yield i
    for _ in tf.data.Dataset.from_generator(rows, tf.int32): pass
    print('done')
    """)
cell("works", "loader_with_workers_that_compute", "done", "", """
    import torch, time
    from torch.utils.data import DataLoader, Dataset
    class Slow(Dataset):
        def __len__(self): return 6
        def __getitem__(self, i):
            end = time.time() + 15
            while time.time() < end: sum(range(1000))
            return torch.ones(2)
    for b in DataLoader(Slow(), num_workers=2): pass
    print('done')
    """)
cell("works", "opencv_in_one_thread", "done", "", """
    import cv2, numpy as np, time
    img = np.random.randint(0, 255, (1500, 1500, 3), np.uint8); end = time.time() + 45
    while time.time() < end: img2 = cv2.bilateralFilter(img, 9, 75, 75)
    print('done')
    """)
cell("works", "joblib_over_processes", "done", "", """
    import joblib, time
    def work(i):
        end = time.time() + 14
        while time.time() < end: sum(range(1000))
        return i
    joblib.Parallel(n_jobs=2)(joblib.delayed(work)(i) for i in range(6))
    print('done')
    """)
cell("works", "joblib_that_sleeps", "done", "", """
    import joblib, time
    joblib.Parallel(n_jobs=3)(joblib.delayed(time.sleep)(14) for i in range(9))
    print('done')
    """)
cell("works", "dask_of_threads", "done", "", """
    import dask, time
    @dask.delayed
    def part(i): time.sleep(11); return i
    dask.compute(*[part(i) for i in range(8)], scheduler='threads', num_workers=2)
    print('done')
    """)
cell("works", "retry_with_back_off", "done", "", """
    import time, socket
    for n in range(6):
        try: socket.create_connection(('127.0.0.1', 9), timeout=2)
        except OSError: time.sleep(2 ** n * .75)
    print('done')
    """)
cell("works", "poll_of_a_job_every_fifteen_seconds", "done", "", """
    import subprocess, time
    p = subprocess.Popen(['sleep', '43'])
    while p.poll() is None: time.sleep(15)
    print('done')
    """)
cell("works", "reader_of_pings", "done", "", """
    import asyncio
    async def serve(r, w):
        for _ in range(5): await asyncio.sleep(9); w.write(b'ping\\n'); await w.drain()
        w.close()
    s = await asyncio.start_server(serve, '127.0.0.1', 0)
    r, w = await asyncio.open_connection('127.0.0.1', s.sockets[0].getsockname()[1])
    while await r.readline(): pass
    w.close()
    print('done')
    """)
cell("works", "async_subprocess_that_computes", "done", "", """
    import asyncio, sys
    p = await asyncio.create_subprocess_exec(sys.executable, '-c', 'import time; e = time.time() + 43\\nwhile time.time() < e: pass')
    await p.wait()
    print('done')
    """)
cell("works", "rate_limited_by_a_semaphore", "done", "", """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor
    import time
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1) as ex: await asyncio.gather(*(loop.run_in_executor(ex, time.sleep, 11) for _ in range(4)))
    print('done')
    """)
cell("works", "producer_and_consumer_with_pauses", "done", "", """
    import queue, threading, time
    q = queue.Queue(1)
    def make():
        for i in range(4): time.sleep(11); q.put(i)
        q.put(None)
    threading.Thread(target=make).start()
    while q.get() is not None: pass
    print('done')
    """)
cell("works", "barrier_of_threads_that_compute", "done", "", """
    import threading, time
    b = threading.Barrier(3)
    def work():
        end = time.time() + 43
        while time.time() < end: sum(range(1000))
        b.wait()
    for _ in range(2): threading.Thread(target=work).start()
    b.wait()
    print('done')
    """)
cell("works", "shell_loop_into_a_pipe", "done", "", """
    import subprocess
    subprocess.run("(for i in $(seq 11); do echo line $i; sleep 4; done) | cat > log.txt", shell=True)
    print('done')
    """)
cell("works", "pandas_merge_and_sort", "done", "", """
    import pandas as pd, numpy as np, time
    a = pd.DataFrame({'k': np.random.randint(0, 200_000, 400_000), 'v': np.random.rand(400_000)}); end = time.time() + 43
    while time.time() < end: a.merge(a.groupby('k').v.mean().rename('m'), on='k').sort_values('m')
    print('done')
    """)
cell("works", "numpy_svd_in_one_call", "done", "", """
    import numpy as np, time
    n, t = 100, 0
    while t < 2: n = int(n * 1.3); a = np.random.rand(n, n); t = time.time(); np.linalg.svd(a); t = time.time() - t
    n = int(n * (44 / t) ** (1 / 3)); np.linalg.svd(np.random.rand(n, n))
    print('done')
    """)
cell("works", "sleep_until_the_full_minute", "done", "", """
    import threading
    stop = threading.Event()
    threading.Timer(44, stop.set).start()
    while not stop.wait(timeout=20): pass
    print('done')
    """)
cell("works", "tqdm_on_stderr_then_a_long_step", "done", "", """
    import time, zlib, os
    from tqdm import tqdm
    block = os.urandom(1 << 20); end = time.time() + 44
    for i in tqdm(range(3), disable=True):
        while time.time() < end: zlib.compress(block, 9)
    print('done')
    """)
