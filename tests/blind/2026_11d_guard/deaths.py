#!/usr/bin/env python3
"""deaths.py [case ...] [--json FILE] [--jobs N] [--plain]: kernels that die, or must not, each in its own way.

Every case: the cell that dies gets an error and a reply, its cause is one of those named, the error says `says` and shows `line` (a piece
of the line of the cell that failed); no client sees a dead or restarting kernel; the next cell runs. `lives`: the kernel goes on with
what it had. `memory`: either of the two, the cause a want of memory. Cells that take memory stop by themselves at 2.5 GiB.
--plain: a kernel without guard: does the cell kill it (or not, for `lives`)? That proves the cases; those of `memory` then just end.
"""
import argparse, concurrent.futures, json, os, pathlib, re, signal, subprocess, sys, textwrap, threading, time
from kernels import FAULTS, ROOT, Kernel, make_environment

CASES = {}
MEMORY = {"memory_line", "cgroup_oom", "bad_alloc"}
LIB = f"import ctypes\nlib = ctypes.CDLL({str(FAULTS)!r})\n"
LINE = ("--memory", "600MiB")
PRE = "marker = 17"


class Wrong(list):
    def check(self, good, what):
        if not good:
            self.append(what)
        return good


def case(f):
    CASES[f.__name__] = f
    return f


def code_of(text):
    return textwrap.dedent(text).strip()


def check_next(k, wrong):
    wrong.check((v := k.value("6 * 7")) == "42", f"next cell: {v}")
    wrong.check(not k.seen_dead(), "a client sees a dead or restarting kernel")


def check_death(k, wrong, sent, reply, causes, line="", says="", code=""):
    """The cell `sent` tells of a death with one of these causes."""
    said = k.said(sent)
    if not wrong.check(reply is not None, "no reply to the cell that died"):
        return
    wrong.check(reply["status"] == "error" and k.of(sent, "error"), f"the cell has no error: {reply['status']}")
    report = k.report(said)
    if wrong.check(report, f"no report: {said[:300]!r}"):
        wrong.check(report["cause"] in causes, f"cause {report['cause']}, not {'|'.join(sorted(causes))}")
    wrong.check(not says or re.search(says, said, re.I), f"does not say {says!r}")
    shown = [code.splitlines()[int(n) - 1] for n in re.findall(r"line (\d+)", said) if 0 < int(n) <= len(code.splitlines())]
    wrong.check(not line or line in said or any(line in s for s in shown), f"does not show the line {line!r}")


def death(name, causes, code, line="", says="", options=(), timeout=240):
    code = code_of(code).replace("LIB\n", LIB)

    def run(k, wrong):
        k.run(PRE)
        sent = k.send(code)
        reply = k.wait(sent, timeout)
        check_death(k, wrong, sent, reply, set(causes.split("|")), line, says, code)
        return sent
    run.code, run.options = code, options
    CASES[name] = run


def lives(name, code, says="", error=None, options=LINE, timeout=240):
    """The kernel goes on: a value of before is still there. `error`: that the cell must end with."""
    code = code_of(code).replace("LIB\n", LIB)

    def run(k, wrong):
        k.run(PRE)
        sent = k.send(code)
        reply = k.wait(sent, timeout)
        if wrong.check(reply is not None, "no reply"):
            wrong.check(reply["status"] == ("error" if error else "ok"), f"status {reply['status']}: {k.said(sent)[-200:]!r}")
            wrong.check(not error or reply.get("ename") in error.split("|"), f"{reply.get('ename')}, not {error}")
        wrong.check(not says or says in k.said(sent), f"does not say {says!r}")
        wrong.check((v := k.value("marker")) == "17", f"the kernel is another: {v}")
        wrong.check(not k.reports(), "a death was reported")
        return sent
    run.code, run.options, run.lives = code, options, True
    CASES[name] = run


def memory(name, code, options=LINE, timeout=240):
    """Too much memory: refused or interrupted, and the kernel lives, or a death that is called a want of memory."""
    code = code_of(code).replace("LIB\n", LIB)

    def run(k, wrong):
        k.run(PRE)
        sent = k.send(code)
        reply = k.wait(sent, timeout)
        if not wrong.check(reply is not None, "no reply"):
            return sent
        said = k.said(sent)
        if k.report(said):
            check_death(k, wrong, sent, reply, MEMORY)
            k.how = f"death: {k.report(said)['cause']}"
        else:
            k.how = f"lives: {reply.get('ename', 'ok')}"
            wrong.check(not re.search(r"^all 2.5 GiB", said, re.M), "the line was crossed by far")
            wrong.check((v := k.value("marker")) == "17", f"the kernel is another: {v}")
            wrong.check(reply["status"] == "error" or "plimsoll" in said.lower() or "memory" in said.lower(), f"the cell says nothing: {said[-200:]!r}")
        return sent
    run.code, run.options, run.any = code, options, True
    CASES[name] = run


# --- faults ---
death("memset_of_null", "segfault", "import ctypes\nctypes.memset(0, 1, 8)", line="memset")
death("strides_out_of_bounds", "segfault|bus_error", """
    import numpy as np
    a = np.zeros(4)
    wild = np.lib.stride_tricks.as_strided(a, shape=(10**6,), strides=(1 << 20,))
    print(wild.sum())
    """, line="wild.sum")
death("null_in_a_native_thread", "segfault", "LIB\nlib.null_in_thread(60)", says="faults.so")
death("call_of_a_number", "segfault", "LIB\nprint('before')\nlib.call_a_number()", line="call_a_number", says="1234567")
death("object_freed_too_early", "segfault|aborted|bus_error", """
    import ctypes
    class Node: pass
    n = Node()
    ctypes.pythonapi.Py_DecRef.argtypes = [ctypes.py_object]
    for _ in range(3): ctypes.pythonapi.Py_DecRef(n)
    import gc
    x = [bytearray(64) for _ in range(1000)]
    print(ctypes.string_at(id(n), 16), repr(n))
    ctypes.string_at(0xdead0000)
    """)
death("c_stack_overflow", "stack_overflow", "LIB\nlib.deep(0)", line="lib.deep")
death("stack_overflow_in_a_native_thread", "stack_overflow", "LIB\nlib.deep_in_thread()", line="deep_in_thread")
death("recursion_through_c", "stack_overflow", """
    import sys
    sys.setrecursionlimit(10**9)
    class Tree:
        def __init__(self): self.left = self
        def __eq__(self, other): return [self.left] == [Tree()]
    Tree() == Tree()
    """, line="__eq__")
memory("recursion_in_python_alone", """
    import sys, resource
    sys.setrecursionlimit(10**9)
    def depth(n, kept):
        if n > 12_000_000: return print('all 2.5 GiB')
        return depth(n + 1, [n] * 8) + 1
    depth(0, None)
    """)
death("uncaught_exception_in_a_thread", "aborted|failed_check", "LIB\nlib.throw_uncaught()", says=r"bad shape \(3, 0\)", line="throw_uncaught")
death("exception_out_of_noexcept", "aborted|failed_check", "LIB\nlib.throw_out_of_noexcept()", says="row 12 of 10", line="throw_out_of")
death("double_free", "aborted", "LIB\nlib.double_free()", says="double free", line="double_free")
death("heap_overwritten", "aborted", "LIB\nlib.write_past_the_end()", says=r"corrupt|invalid|size", line="write_past")
death("stack_smashed", "aborted", "LIB\nlib.smash(400)", says="stack smashing", line="smash")
death("failed_assert", "aborted|failed_check", "LIB\nlib.failed_assert(0)", says="a table has rows", line="failed_assert")
death("fatal_error_of_python", "aborted", "import ctypes\nctypes.pythonapi.Py_FatalError(b'lost my thread state')", says="lost my thread state", line="Py_FatalError")
death("division_by_zero", "arithmetic", "LIB\nlib.divide(1, 0)", line="lib.divide")
death("trap", "illegal_instruction", "LIB\nlib.trap()", line="lib.trap")
death("ud2_in_made_code", "illegal_instruction", """
    import ctypes, mmap
    m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    m.write(b'\\x0f\\x0b')
    f = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
    f()
    """, line="f()")
death("memmap_cut_off_by_another_program", "bus_error", """
    import numpy as np, subprocess
    np.save('rows.npy', np.ones((3000, 1000)))
    rows = np.load('rows.npy', mmap_mode='r')
    subprocess.run(['truncate', '-s', '8192', 'rows.npy'])
    print(rows.mean())
    """, line="rows.mean")
death("no_space_in_a_shared_mapping", "bus_error", """
    import mmap, os
    fd = os.memfd_create('ring')
    os.ftruncate(fd, 1 << 20)
    m = mmap.mmap(fd, 1 << 20)
    os.ftruncate(fd, 4096)
    m[900000] = 1
    """, line="m[900000]")

# --- ends that the program asks for, and signals ---
death("os_exit", "exited", "import os\nprint('bye', flush=True)\nos._exit(3)", says=r"\b3\b")
death("exit_in_c_of_a_library", "exited", "LIB\nlib.exit_from_c()", says=r"\b7\b")
death("exec_of_another_program", "exited", "import os\nos.execv('/bin/true', ['true'])", says=r"\b0\b|status")
lives("sys_exit_in_a_thread", "import sys, threading\nt = threading.Thread(target=sys.exit, args=(5,))\nt.start(); t.join()\nprint('goes on')", says="goes on")
lives("sys_exit_in_the_cell", "import sys\nsys.exit('no data')", error="SystemExit")
death("killed_with_its_group", "outside_kill", "import os\nos.killpg(0, 9)")
death("limit_of_processor_time", "terminated|outside_kill", """
    import resource
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 60))
    while True: sum(range(1000))
    """, says="XCPU|processor time|CPU time")
death("broken_pipe_by_default", "terminated", """
    import os, signal
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    r, w = os.pipe(); os.close(r)
    os.write(w, b'x')
    """, says="PIPE", line="os.write")
death("alarm_without_a_handler", "terminated", "import signal, time\nsignal.alarm(1)\ntime.sleep(30)", says="ALRM|alarm")
death("quit_signal", "terminated|aborted", "import os, signal\nos.kill(os.getpid(), signal.SIGQUIT)\nimport time; time.sleep(30)", says="QUIT")

# --- memory ---
BIG = "(5 << 28)"     # 1.25 GiB, twice the line
lives("one_big_array", f"import numpy as np\na = np.ones({BIG} // 8)", error="MemoryError|_ArrayMemoryError")
lives("one_big_string", f"s = 'x' * {BIG}\ns += 'y'", error="MemoryError")
memory("creep_of_small_arrays", """
    import numpy as np
    kept = []
    for _ in range(320_000): kept.append(np.ones(1000))
    print('all 2.5 GiB')
    """)
memory("creep_of_dictionaries", """
    rows = []
    for i in range(10_000_000): rows.append({'id': i, 'name': str(i)})
    print('all 2.5 GiB')
    """)
memory("string_that_doubles", """
    text = 'word '
    while len(text) < 5 << 29: text += text
    print('all 2.5 GiB')
    """)
memory("threads_that_creep", """
    import threading, numpy as np
    kept, failed = [], []
    def eat():
        try:
            for _ in range(2500): kept.append(np.ones(32_000))
        except BaseException as e:
            failed.append(e)
    ts = [threading.Thread(target=eat) for _ in range(4)]
    for t in ts: t.start()
    for t in ts: t.join()
    print('memory:', len(kept), failed) if failed else print('all 2.5 GiB')
    """)
memory("six_forked_children_creep", """
    import multiprocessing as mp, numpy as np, time
    def eat(i):
        kept = []
        for _ in range(200): kept.append(np.ones(250_000)); time.sleep(.002)
        return len(kept)
    with mp.get_context('fork').Pool(6) as pool:
        got = pool.map(eat, range(6), chunksize=1)
    print('all 2.5 GiB', got)
    """)
memory("anonymous_map_touched", """
    import mmap
    m = mmap.mmap(-1, 5 << 29)
    for at in range(0, len(m), 4096): m[at] = 1
    print('all 2.5 GiB')
    """)
memory("empty_touched_late", """
    import numpy as np
    parts = [np.empty(1 << 21) for _ in range(160)]
    for p in parts: p.fill(1)
    print('all 2.5 GiB')
    """)
memory("zeros_written_row_by_row", """
    import numpy as np
    table = np.zeros((40_000, 8192))
    for i in range(len(table)): table[i] = i
    print('all 2.5 GiB')
    """)
memory("files_in_dev_shm", """
    import os
    os.makedirs('/dev/shm/blind4', exist_ok=True)
    try:
        for i in range(40):
            with open(f'/dev/shm/blind4/{os.getpid()}_{i}', 'wb') as f: f.write(bytes(64 << 20))
        print('all 2.5 GiB')
    finally:
        import glob
        for p in glob.glob(f'/dev/shm/blind4/{os.getpid()}_*'): os.remove(p)
    """)
memory("shared_memory_of_python", """
    from multiprocessing import shared_memory
    import numpy as np
    s = shared_memory.SharedMemory(create=True, size=5 << 29)
    s.unlink()
    a = np.ndarray((5 << 26,), buffer=s.buf)
    for i in range(0, len(a), 1 << 18): a[i:i + (1 << 18)] = 1
    print('all 2.5 GiB')
    """)
memory("torch_tensors_kept", """
    import torch
    losses = []
    w = torch.ones(1000, 1000, requires_grad=True)
    for step in range(640):
        losses.append((w * 2).sin().sum() + 0)        # each keeps its graph
    print('all 2.5 GiB')
    """)
lives("one_big_tensor", "import torch\nx = torch.ones(40_000, 10_000)", error="RuntimeError|MemoryError", options=LINE)
memory("pandas_product_of_two_tables", """
    import pandas as pd, numpy as np
    a = pd.DataFrame({'k': np.zeros(12_000, int), 'x': np.arange(12_000)})
    b = pd.DataFrame({'k': np.zeros(12_000, int), 'y': np.arange(12_000)})
    print('all 2.5 GiB', len(a.merge(b, on='k')))
    """)
death("absurd_vector_in_a_thread", "bad_alloc|memory_line|aborted|failed_check", "LIB\nlib.absurd_vector()", says="bad_alloc|length_error|vector", line="absurd_vector", options=LINE)
lives("child_that_takes_too_much", """
    import subprocess, sys
    p = subprocess.run([sys.executable, '-c', 'x = []\\nwhile len(x) < 40: x.append(bytearray(64 << 20))\\nprint("all 2.5 GiB")'], capture_output=True, text=True)
    print(p.returncode, 'refused' if p.returncode else p.stdout)
    """, says="refused")
lives("child_that_dies", """
    import subprocess, sys
    print(subprocess.run([sys.executable, '-c', 'import ctypes; ctypes.string_at(0)']).returncode)
    """, says="-11")
lives("forked_child_that_aborts", """
    import os
    if (p := os.fork()) == 0: os.abort()
    print('child:', os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))
    """, says="child: -6")


# --- from outside, between cells, at odd moments ---
def plain_case(f):
    f.options, f.special = getattr(f, "options", ()), True
    return case(f)


def later(seconds, do):
    t = threading.Timer(seconds, do)
    t.start()
    return t


def signal_case(name, number, causes, says, busy):
    def run(k, wrong):
        pid = k.kernel_pid()
        sent = k.send(busy)
        later(2, lambda: os.kill(pid, number))
        check_death(k, wrong, sent, k.wait(sent), set(causes.split("|")), says=says)
    run.options = ()
    CASES[name] = run


signal_case("killed_from_outside_while_it_computes", 9, "outside_kill", "SIGKILL|kill", "import numpy as np\na = np.ones((500, 500))\nwhile True: a @ a")
signal_case("terminated_from_outside_in_a_sleep", signal.SIGTERM, "terminated", "TERM", "import time\ntime.sleep(100)")
signal_case("hung_up_from_outside", signal.SIGHUP, "terminated", "HUP", "import time\ntime.sleep(100)")
signal_case("real_time_signal", 40, "terminated", r"40|RT", "import time\ntime.sleep(100)")


@plain_case
def death_of_an_idle_kernel(k, wrong):
    pid = k.kernel_pid()
    os.kill(pid, 9)
    time.sleep(3)
    reply, said = k.run("print('next')")
    wrong.check(reply and reply["status"] == "ok" and "next" in said, f"the next cell does not run: {said[:200]!r}")
    report = k.report(said) or (k.reports() or [None])[-1]
    wrong.check("kill" in said.lower(), "the next cell does not tell of the death")
    wrong.check(report and report["cause"] == "outside_kill", f"cause {report and report['cause']}")


@plain_case
def death_of_an_idle_kernel_by_its_own_thread(k, wrong):
    k.run(LIB + "import threading\nthreading.Timer(2, lib.double_free).start()")
    time.sleep(5)
    reply, said = k.run("print('next')")
    wrong.check(reply and reply["status"] == "ok" and "next" in said, f"the next cell does not run: {said[:200]!r}")
    report = k.report(said) or (k.reports() or [None])[-1]
    wrong.check("double free" in said, "the next cell does not tell of the double free")
    wrong.check(report and report["cause"] == "aborted", f"cause {report and report['cause']}")


@plain_case
def death_during_an_interrupt(k, wrong):
    code = "import os, time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    os.abort()"
    sent = k.send(code)
    k.pump(3)
    k.manager.interrupt_kernel()
    check_death(k, wrong, sent, k.wait(sent), {"aborted"}, line="os.abort", code=code)


@plain_case
def death_during_input(k, wrong):
    pid = k.kernel_pid()
    sent = k.send("name = input('name? ')", stdin=True)
    end = time.monotonic() + 30
    while not k.asked and time.monotonic() < end:
        k.pump(0.2)
    wrong.check(k.asked, "was not asked")
    os.kill(pid, signal.SIGKILL)
    check_death(k, wrong, sent, k.wait(sent), {"outside_kill"}, line="input")
    k.client.input("too late")


@plain_case
def crash_at_the_shutdown_of_a_restart(k, wrong):
    before = k.kernel_pid()
    k.run(LIB + "import atexit\natexit.register(lib.double_free)\nprint('armed')")
    k.manager.restart_kernel(now=False)
    k.pid = k.manager.provisioner.pid
    k.client.wait_for_ready(timeout=400)
    after = k.kernel_pid()
    wrong.check(after != before, "the same kernel")
    reply, said = k.run("print('fresh', 'lib' in globals())")
    wrong.check("fresh False" in said, f"said {said[:200]!r}")


@plain_case
def death_while_a_restart_is_asked_for(k, wrong):
    sent = k.send("import signal, os, time\nsignal.signal(signal.SIGTERM, lambda *a: os.abort())\ntime.sleep(60)")
    k.pump(2)
    k.manager.restart_kernel(now=False)
    k.client.wait_for_ready(timeout=400)


@plain_case
def two_deaths_in_a_row(k, wrong):
    for code, cause in ((LIB + "lib.deep(0)", "stack_overflow"), ("import os\nos._exit(9)", "exited"), (LIB + "lib.divide(3, 0)", "arithmetic")):
        sent = k.send(code)
        check_death(k, wrong, sent, k.wait(sent), {cause})


@plain_case
def death_with_cells_in_the_queue(k, wrong):
    first = k.send("import time, os\ntime.sleep(2)\nos.abort()")
    rest = [k.send(f"print('ran', {i})") for i in range(4)]
    check_death(k, wrong, first, k.wait(first), {"aborted"}, line="os.abort")
    for sent in rest:
        reply = k.wait(sent, 240)
        wrong.check(reply and reply["status"] in ("aborted", "error"), f"queued cell: {reply and reply['status']}")
        wrong.check("ran" not in k.said(sent), "a queued cell ran after the death")


@plain_case
def death_while_questions_wait(k, wrong):
    sent = k.send("import time, os\ntime.sleep(2)\nos._exit(1)")
    asked = [k.client.kernel_info(), k.client.complete("import o", 8), k.client.history(hist_access_type="tail", n=3)]
    check_death(k, wrong, sent, k.wait(sent), {"exited"})
    end = time.monotonic() + 60
    while time.monotonic() < end and not all(a in k.replies for a in asked):
        k.pump(0.2)
    wrong.check(all(a in k.replies for a in asked), f"{sum(a not in k.replies for a in asked)} questions got no answer")


@plain_case
def flood_of_output_before_the_end(k, wrong):
    sent = k.send("import os, sys\nfor i in range(60000): print(i, 'x' * 400)\nsys.stdout.flush()\nos.write(1, b'last words\\n')\nos.abort()")
    check_death(k, wrong, sent, k.wait(sent, 400), {"aborted"}, line="os.abort")
    said = k.said(sent)
    wrong.check("59999 x" in said, "the last line of the flood is gone")
    wrong.check("last words" in said, "the last words are gone")
    wrong.check(k.of(sent)[-1]["msg_type"] == "status", "something comes after idle")


@plain_case
def flood_by_native_code_then_a_fault(k, wrong):
    sent = k.send(LIB + "libc = ctypes.CDLL(None)\nfor i in range(20000): libc.printf(b'row %d of the native log %s\\n', i, b'y' * 200)\nlibc.fflush(None)\nlib.trap()")
    check_death(k, wrong, sent, k.wait(sent, 400), {"illegal_instruction"}, line="lib.trap")
    wrong.check("row 19999 " in k.said(sent), "the last line of the native log is gone")


@plain_case
def all_descriptors_closed(k, wrong):
    sent = k.send("import os\nos.closerange(3, 4096)\nprint('still here')")
    reply = k.wait(sent, 240)
    check_death(k, wrong, sent, reply, {"aborted", "failed_check", "exited", "segfault"})


@plain_case
def output_descriptors_closed(k, wrong):
    reply, said = k.run("marker = 5\nimport os\nos.close(1); os.close(2)\nprint('by zmq')")
    wrong.check(reply and "by zmq" in said, f"said {said[:200]!r}")
    wrong.check((v := k.value("marker")) == "5", f"the kernel is another: {v}")


@plain_case
def comm_and_widgets_of_the_dead(k, wrong):
    reply, said = k.run("from comm import create_comm\nc = create_comm(target_name='bars', data={'v': 1})")
    sent = k.send("import os\nos.kill(os.getpid(), 11)")
    check_death(k, wrong, sent, k.wait(sent), {"segfault", "terminated", "outside_kill"})
    k.pump(2)
    wrong.check(any(m["msg_type"] == "comm_close" for m in k.messages), "the comm was not closed")


def startup_case(name, change=None, env=None, says=""):
    def run(k, wrong):
        end = time.monotonic() + 30
        while time.monotonic() < end and not any(m["msg_type"] == "iopub_welcome" for m in k.messages):
            k.pump(0.1)           # what is said before the client has subscribed no client gets
        for n in (1, 2):
            sent = k.send("print('ran')")
            reply = k.wait(sent, 300)
            check_death(k, wrong, sent, reply, {"startup_crash"}, says=says)
        return "ends"
    run.options, run.change, run.env, run.never_starts = (), change, env, True
    CASES[name] = run


def with_interpreter(new):
    return lambda argv: [*argv[:(i := argv.index("--")) + 1], *new, *argv[i + 2:]] if "--" in argv else [*new, *argv[1:]]


def make_broken():
    for name, text in (("ipykernel/__init__.py", "raise ImportError('cannot import name sysconfig_v2')"), ("sitecustomize_bad/sitecustomize.py", "import os; os._exit(99)"),
                       ("zmq_abort/zmq/__init__.py", "import os\nprint('zmq: assertion failed', flush=True)\nos.abort()")):
        p = ROOT / "broken" / name
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_text(text + "\n")


startup_case("interpreter_is_missing", with_interpreter(["/opt/envs/tf2/bin/python"]), says="/opt/envs/tf2/bin/python")
startup_case("interpreter_is_a_folder", with_interpreter(["/usr/lib"]), says="/usr/lib")
startup_case("kernel_exits_at_start", with_interpreter(["/usr/bin/python3", "-c", "import sys; sys.exit('licence server unreachable')"]), says="licence server unreachable")
startup_case("kernel_ends_well_at_start", with_interpreter(["/bin/true"]), says="0|at once|status|exit")
startup_case("ipykernel_cannot_be_imported", env={"PYTHONPATH": str(ROOT / "broken")}, says="sysconfig_v2")
startup_case("sitecustomize_that_exits", env={"PYTHONPATH": str(ROOT / "broken/sitecustomize_bad")}, says="99")
startup_case("zmq_that_aborts", env={"PYTHONPATH": str(ROOT / "broken/zmq_abort")}, says="assertion failed")
startup_case("start_needs_a_library_that_is_gone", with_interpreter(["/usr/bin/env", "LD_LIBRARY_PATH=/nowhere", "LD_PRELOAD=", "python9.9"]), says="python9.9")


def run_case(name, plain):
    f, wrong, begin = CASES[name], Wrong(), time.monotonic()
    if plain:
        return prove(name, f)
    k = Kernel(options=f.options, change=getattr(f, "change", None), env=getattr(f, "env", None))
    try:
        if not getattr(f, "never_starts", False):
            k.ready()
        f(k, wrong)
        if not getattr(f, "never_starts", False):
            check_next(k, wrong)
        else:
            wrong.check(not k.seen_dead(), "a client sees a dead or restarting kernel")
        said = "\n".join(k.said(s)[-1500:] for s in dict.fromkeys(m["parent_header"].get("msg_id") for m in k.messages) if s and k.of(s, "error"))
        return {"case": name, "right": not wrong, "wrong": wrong, "how": getattr(k, "how", ""), "causes": [r["cause"] for r in k.reports()],
                "titles": [r["title"] for r in k.reports()], "seconds": round(time.monotonic() - begin), "said": said[:6000]}
    finally:
        k.close()


def prove(name, f):
    """In a plain kernel: it dies, or lives."""
    if not hasattr(f, "code"):
        return {"case": name, "right": True, "wrong": [], "how": "not proved by itself"}
    if getattr(f, "any", False):
        return {"case": name, "right": True, "wrong": [], "how": "takes 2.5 GiB by itself: not proved"}
    k = Kernel(plain=True).ready()
    try:
        sent = k.send(f.code)
        end = time.monotonic() + 60
        while time.monotonic() < end and sent not in k.replies and k.manager.is_alive():
            k.pump(0.2)
        k.pump(1)
        died, said = not k.manager.is_alive(), k.said(sent)
        good = died != getattr(f, "lives", False)
        return {"case": name, "right": good, "wrong": [] if good else ["died" if died else "lived"], "how": "died" if died else "lived", "said": said[-1500:]}
    finally:
        k.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cases", nargs="*")
    p.add_argument("--json")
    p.add_argument("--jobs", type=int, default=4)
    p.add_argument("--plain", action="store_true")
    a = p.parse_args()
    make_environment()
    make_broken()
    rows = []

    def one(name):
        try:
            return run_case(name, a.plain)
        except Exception as e:
            return {"case": name, "right": False, "wrong": [f"trouble: {type(e).__name__}: {e}"[:500]]}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for row in pool.map(one, a.cases or CASES):
            rows.append(row)
            print(f"{row['case']:44} {'right' if row['right'] else 'WRONG':6} {','.join(row.get('causes', []))} {row.get('how', '')} {row.get('seconds', '')}", flush=True)
            for w in row["wrong"]:
                print("      " + w, flush=True)
    print(f"{sum(r['right'] for r in rows)} of {len(rows)} right")
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
