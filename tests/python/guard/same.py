"""Things that a program can see of the process it runs in: pieces of code that print the same in a guarded kernel as in a
plain one. What differs on purpose (docs/guard.md) they leave out."""

HEAD = "import ctypes, errno, faulthandler, os, re, resource, signal, struct, subprocess, sys, tempfile, threading, time\nlibc = ctypes.CDLL(None, use_errno=True)\n"

PROBES = {
    "dispositions of signals": """
for s in sorted(signal.valid_signals()): print(int(s), re.sub('0x[0-9a-f]+', '', repr(signal.getsignal(s))))""",
    "signals blocked": "print(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
    "what C sees as handlers, those of faults left out": """
buffer = ctypes.create_string_buffer(256)
for s in set(range(1, 65)) - {4, 6, 7, 8, 11}:
    libc.sigaction(s, None, buffer)
    handler = int.from_bytes(buffer.raw[:8], 'little')
    print(s, handler if handler < 2 else 'function', int.from_bytes(buffer.raw[136:140], 'little') & ~0x4000000)""",
    "a handler set by C's signal() is read back": """
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda n: print('ran', n))
libc.signal.restype = ctypes.c_void_p
libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
for s in (signal.SIGUSR2, signal.SIGUSR1, signal.SIGALRM, 999):
    old = libc.signal(s, ctypes.cast(handler, ctypes.c_void_p))
    back = libc.signal(s, old)
    print(int(s), old, back == ctypes.cast(handler, ctypes.c_void_p).value)""",
    "a handler of a fault is read back, and one for once is gone": """
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda n: print('ran', n))
action = ctypes.cast(handler, ctypes.c_void_p).value.to_bytes(8, 'little') + bytes(128) + (0x80000000).to_bytes(4, 'little') + bytes(12)
before, back = ctypes.create_string_buffer(152), ctypes.create_string_buffer(152)
libc.sigaction(signal.SIGFPE, action, before)
libc.sigaction(signal.SIGFPE, None, back); print(back.raw[:8] == action[:8], back.raw[139] & ~4)
libc.raise_ = libc['raise']; libc.raise_(signal.SIGFPE)
libc.sigaction(signal.SIGFPE, before, back); print(int.from_bytes(back.raw[:8], 'little'))""",
    "siginterrupt holds for C's signal()": """
came = []
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda n: came.append(n))
libc.siginterrupt(signal.SIGALRM, 1)
libc.signal(signal.SIGALRM, handler)
read, write = os.pipe()
libc.setitimer.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
keep = threading.Timer(20, lambda: os.write(write, b'x')); keep.start()
libc.setitimer(0, struct.pack('qqqq', 0, 300000, 0, 300000), None)  # again, should the first come before the read
print(libc.read(read, ctypes.create_string_buffer(1), 1), ctypes.get_errno() == errno.EINTR)
keep.cancel(); libc.setitimer(0, bytes(32), None)
libc.signal(signal.SIGALRM, None); libc.siginterrupt(signal.SIGALRM, 0)""",
    "alarm": """
came = []
signal.signal(signal.SIGALRM, lambda *a: came.append(a[0])); signal.setitimer(signal.ITIMER_REAL, 0.2)
libc.sleep(5); print(came, signal.getitimer(signal.ITIMER_REAL)); signal.signal(signal.SIGALRM, signal.SIG_DFL)""",
    "a signal sent to oneself": """
came = []
for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN + 7, signal.SIGRTMIN + 8, signal.SIGCHLD, signal.SIGTERM):
    old = signal.signal(s, lambda n, f: came.append(int(n))); os.kill(os.getpid(), s); signal.signal(s, old)
print(came)""",
    "a fault that the program handles itself": """
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda n: print('handled', n))
old = signal.getsignal(signal.SIGFPE)
signal.signal(signal.SIGFPE, lambda n, f: print('handled', int(n))); os.kill(os.getpid(), signal.SIGFPE)
signal.signal(signal.SIGFPE, old); print(old)""",
    "children and SIGCHLD": """
print(subprocess.run(['sh', '-c', 'exit 7']).returncode, subprocess.run(['sh', '-c', 'kill -9 $$']).returncode)
came = []
signal.signal(signal.SIGCHLD, lambda n, f: came.append(int(n)))
pid = os.fork()
if pid == 0: os._exit(3)
print(os.waitpid(pid, 0)[1] >> 8, came); signal.signal(signal.SIGCHLD, signal.SIG_DFL)
try: os.wait()
except ChildProcessError: print('no children')""",
    "signals of a child": """
show = "grep -E 'Sig(Ign|Cgt|Blk)' /proc/self/status"
print(subprocess.run(['sh', '-c', show], capture_output=True, text=True).stdout)
print(subprocess.run(['sh', '-c', show], capture_output=True, text=True, restore_signals=False).stdout)""",
    "a child that segfaults": """
code = 'import ctypes; ctypes.string_at(0)'
done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True); print(done.returncode, done.stderr)""",
    "multiprocessing": """
import multiprocessing as m
for how in ('fork', 'forkserver'):
    with m.get_context(how).Pool(2) as pool: print(how, pool.map(abs, range(-3, 3)), pool.apply(os.cpu_count) == os.cpu_count())
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(write, repr([t.name for t in threading.enumerate()]).encode()); os._exit(0)
os.waitpid(pid, 0); print(os.read(read, 1000))""",
    "environment": "print(sorted((k, v) for k, v in os.environ.items() if k not in ('JPY_PARENT_PID', 'LD_PRELOAD', 'PLIMSOLL_GATE')))",
    "arguments and flags": "print(len(sys.argv), sys.flags, sys._xoptions, sys.warnoptions, os.getcwd(), oct(os.umask(0o22)))",
    "resource limits": "for n in sorted(dir(resource)):\n    if n.startswith('RLIMIT') and n != 'RLIMIT_DATA': print(n, resource.getrlimit(getattr(resource, n)))",
    "process": """
print(os.getpid() == os.getpgrp(), os.nice(0), os.sched_getaffinity(0), open('/proc/self/oom_score_adj').read().strip())
print(libc.prctl(3, 0, 0, 0, 0), open('/proc/self/comm').read().strip(), os.getppid() == int(os.environ['JPY_PARENT_PID']))
try: os.setsid()
except PermissionError: print('setsid refused')""",
    "standard streams": """
for f in (1, 2): print(f, os.isatty(f), os.fstat(f).st_mode & 0o170000)
print(os.isatty(0), os.read(0, 1))
for s in (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__):
    print(type(s), s.isatty(), s.encoding, s.errors, getattr(s, 'line_buffering', None), getattr(s, 'write_through', None))
print(sys.stdin.read.__name__)""",
    "streams have descriptors": """
for s in (sys.stdout, sys.stderr): print(s.fileno() > 2, os.get_inheritable(s.fileno()))
print(subprocess.run(['true'], stdout=sys.stdout, stderr=sys.stderr).returncode)
os.write(sys.stdout.fileno(), b''); print(sys.stdin.fileno())""",
    "descriptors of a child": """
print(subprocess.run(['sh', '-c', 'ls /proc/self/fd'], capture_output=True, text=True, close_fds=False).stdout.split())""",
    "new descriptors are low": "f = os.dup(0); print(f < 100); os.close(f)",
    "threads, without those that read ipykernel's descriptors": """
print(sorted(t.name for t in threading.enumerate() if '_watch_pipe_fd' not in t.name and 'Thread-' not in t.name))""",
    "faulthandler": """

with tempfile.TemporaryFile() as f:
    for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN + 7):
        faulthandler.register(s, file=f, all_threads=False); os.kill(os.getpid(), s); print(faulthandler.unregister(s))
    faulthandler.dump_traceback_later(0.1, file=f); end = time.monotonic() + 60
    while os.pread(f.fileno(), 10**6, 0).count(b'most recent call first') <= 3 and time.monotonic() < end: time.sleep(0.1)
    faulthandler.cancel_dump_traceback_later(); print(time.monotonic() < end)""",
    "sizes of blocks": """
libc.malloc.restype = libc.calloc.restype = libc.realloc.restype = libc.memalign.restype = ctypes.c_void_p
for n in (1, 24, 100, 1 << 16, 200_000, 1 << 20):
    p = ctypes.c_void_p(libc.malloc(ctypes.c_size_t(n))); print(n <= libc.malloc_usable_size(p) < n + 8192, end=' '); libc.free(p)
    p = ctypes.c_void_p(libc.memalign(64, ctypes.c_size_t(n))); print(n <= libc.malloc_usable_size(p) < n + 8192, p.value % 64); libc.free(p)""",
    "errno of the allocators": """
libc.malloc.restype = libc.calloc.restype = libc.realloc.restype = libc.aligned_alloc.restype = ctypes.c_void_p
huge = ctypes.c_size_t((1 << 63) - 10)
p = ctypes.c_void_p()
for call in (lambda: libc.malloc(huge), lambda: libc.calloc(huge, huge), lambda: libc.realloc(None, huge),
             lambda: libc.posix_memalign(ctypes.byref(p), 3, 100), lambda: libc.posix_memalign(ctypes.byref(p), 64, huge),
             lambda: libc.reallocarray(None, huge, huge), lambda: libc.aligned_alloc(64, huge)):
    ctypes.set_errno(0); print(call(), ctypes.get_errno())
ctypes.set_errno(77); q = ctypes.c_void_p(libc.malloc(ctypes.c_size_t(32 << 20))); print(ctypes.get_errno()); libc.free(q)""",
    "errno of mmap": """
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for arguments in ((None, 0, 3, 0x22, -1, 0), (None, 4096, 3, 0x02, -1, 0), (None, 1 << 60, 3, 0x22, -1, 0), (None, 1 << 40, 0, 0x4022, -1, 0)):
    ctypes.set_errno(0); got = libc.mmap(*arguments); print(got == ctypes.c_void_p(-1).value, ctypes.get_errno())""",
    "memory not touched": "import numpy as np\nx = np.zeros(100_000_000); print(x[::10_000_000].sum())",
    "output of native code and of children": """
os.write(1, b'one\\n'); os.system('echo three'); time.sleep(3); os.write(2, b'two\\n'); time.sleep(3)""",
    "a tracer sees only the program": """
seen = set()
sys.setprofile(lambda f, e, a: seen.add(f.f_code.co_filename)); time.sleep(0.1); sum(range(1000)); sys.setprofile(None)
print(len(seen))""",
    "an interrupt ends a wait of Python at once": """
threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try: time.sleep(60); print('slept on')
except KeyboardInterrupt as e: print('interrupted', len(e.args))""",
    "a child gets an interrupt of the group": """
came = threading.Event(); old = signal.signal(signal.SIGINT, lambda n, f: came.set())
child = subprocess.Popen(['sleep', '60']); os.killpg(os.getpgrp(), signal.SIGINT)
print(child.wait(), came.wait(60)); signal.signal(signal.SIGINT, old)""",
    "switch interval and collector": "import gc\nprint(sys.getswitchinterval(), gc.isenabled(), gc.get_threshold(), sys.getrecursionlimit())",
    "names in the namespace": "print(len(globals()) > 20, 'guard' in globals(), 'NO_CAPTURE' in globals())",
    "modules": "print(sorted(m for m in sys.modules if 'plimsoll' in m))",
    "exit handlers": "import atexit; print(atexit._ncallbacks() if hasattr(atexit, '_ncallbacks') else 0)",
}
