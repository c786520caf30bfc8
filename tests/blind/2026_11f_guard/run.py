#!/usr/bin/env python3
"""run.py [cell ...] [--json FILE] [--jobs N] [--kinds death,stall,...] [--plain]: the cells of cells.py under the guard, or (--plain) without it.

Kinds death, lives, memory, stall and works are judged as in `2026_11e_guard`, and
cells   (line at 700 MiB) the first piece once, the second up to 40 times, in cells of their own, until one is refused or interrupted; then the third runs
        to "done" in the same kernel
fits    (line at 700 MiB) "done", and the guard says nothing
asks    as works; the user answers each question 45 s after it came
outside what is done to a kernel from outside: OUTSIDE below
"""
import argparse, concurrent.futures, importlib.util, json, os, pathlib, re, signal, subprocess, sys, time

HERE = pathlib.Path(__file__).resolve().parent
os.environ.setdefault("BLIND_ROOT", "/tmp/blind_guard_6")
from cells import CELLS  # noqa: E402  (2026_11e_guard/run.py takes these for its own)

spec = importlib.util.spec_from_file_location("earlier", HERE.parent / "2026_11e_guard/run.py")
earlier = importlib.util.module_from_spec(spec)
spec.loader.exec_module(earlier)
kernels = earlier.kernels
earlier.PACKAGES[:] = ["ipykernel==7.4.0", "pandas==2.0.3", "h5py==3.10.0", "numba", "numpy<2"]
LIB = kernels.ROOT / "faults_f.so"


def make_library():
    include = str(next(pathlib.Path("/").glob("root/.pyenv/versions/3.11.*/include/python3.11"), "/usr/include/python3.11"))
    subprocess.run(["g++", "-O1", "-g", "-w", "-fno-builtin-realloc", "-fopenmp", "-D_FORTIFY_SOURCE=2", "-D_GLIBCXX_ASSERTIONS", "-shared", "-fPIC", "-pthread", f"-I{include}", "-o", LIB, HERE / "faults.cpp"], check=True)


def judge_cells(k, code):
    first, again, last = (c.strip() for c in code.split("\n---\n"))
    k.run(first)
    for _ in range(40):
        reply, said = k.run(again)
        if reply is None or reply["status"] != "ok":
            break
    wrong = [] if reply and reply["status"] == "error" and not k.reports() else [f"not refused: {reply and reply['status']}, {said[-300:]!r}"]
    reply, after = k.run(last)
    if not reply or reply["status"] != "ok" or not re.search(r"^done$", after, re.M) or k.value("marker") != "17":
        wrong.append(f"does not go on: {after[-300:]!r}")
    return wrong, said + after


def judge_asks(k, sent, answer):
    begin, asked = time.monotonic(), 0
    while time.monotonic() - begin < 300 and sent not in k.replies:
        k.pump(0.5)
        if len(k.asked) > asked:
            asked = len(k.asked)
            k.pump(45)
            k.client.input(answer)
    k.pump(2)
    said = k.said(sent)
    return [] if asked and re.search(r"^done$", said, re.M) and "plimsoll" not in said else [f"asked {asked} times, said {said[-400:]!r}"], said


def death_by(signal_number, causes, code="import time\ntime.sleep(60)"):
    def run(k):
        pid = k.kernel_pid()
        sent = k.send(code)
        k.pump(3)
        os.kill(pid, signal_number)
        return earlier.judge_death(k, sent, k.wait(sent, 60), causes, "", code), k.said(sent)
    return run


def child_is_killed(k):
    code = "import multiprocessing as mp, time\np = mp.get_context('fork').Process(target=time.sleep, args=(60,)); p.start(); print('pid', p.pid, flush=True); p.join(); print('code', p.exitcode)"
    sent = k.send(code)
    while not (found := re.search(r"pid (\d+)", k.said(sent))):
        k.pump(0.5)
    os.kill(int(found[1]), signal.SIGKILL)
    reply, said = k.wait(sent, 60), k.said(sent)
    good = reply and reply["status"] == "ok" and "code -9" in said and "plimsoll" not in said and k.value("marker") == "17"
    return [] if good else [f"said {said[-300:]!r}"], said


def dies_as_it_is_interrupted(k):
    code = "import ctypes, time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: ctypes.string_at(0)"
    sent = k.send(code)
    k.pump(3)
    k.manager.interrupt_kernel()
    return earlier.judge_death(k, sent, k.wait(sent, 60), ["segfault"], "string_at", code), k.said(sent)


def fault_at_exit_is_no_news(k):
    """A kernel that is shut down and faults as it ends: the shutdown ends well, and soon."""
    k.run("import atexit, ctypes\natexit.register(ctypes.string_at, 0)")
    begin = time.monotonic()
    k.manager.shutdown_kernel()
    took = time.monotonic() - begin
    return [] if took < 20 and not k.manager.is_alive() else [f"took {took:.0f} s"], ""


def exits_as_the_library_ends(k):
    """Between two cells, by a thread: told in the next one, which runs or says why not."""
    k.run("import os, threading\nthreading.Timer(2, os._exit, (17,)).start()")
    k.pump(5)
    reply, said = k.run("print('here')")
    reply2, said2 = k.run("print('here')")
    good = reply2 and reply2["status"] == "ok" and "here" in said2 and re.search(r"\b17\b", said + said2) and not k.seen_dead()
    return [] if good else [f"said {said[-300:]!r} {said2[-300:]!r}"], said + said2


def startup(text, words):
    def run(_):
        k = kernels.Kernel()
        try:
            at = k.home / ".ipython/profile_default/startup"
            at.mkdir(parents=True, exist_ok=True)
            (at / "00-own.py").write_text(text)
            k.manager.restart_kernel(now=True)
            k.pump(20)
            said = ""
            for _ in range(2):
                sent = k.send("6 * 7")
                reply = k.wait(sent, 60)
                said = k.said(sent)
                if reply is None or reply["status"] != "error" or not re.search(words, said):
                    return [f"reply {reply and reply['status']}, said {said[-300:]!r}"], said
            return [], said
        finally:
            k.close()
    return run


OUTSIDE = {
    "killed_by_another_program": death_by(signal.SIGKILL, ["outside_kill"]),
    "terminated_by_another_program": death_by(signal.SIGTERM, ["terminated"]),
    "aborted_by_another_program": death_by(signal.SIGABRT, ["aborted", "terminated"]),
    "killed_as_it_computes": death_by(signal.SIGKILL, ["outside_kill"], "while True: sum(range(1000))"),
    "killed_as_it_keeps_the_lock": death_by(signal.SIGKILL, ["outside_kill"], "import ctypes\nctypes.PyDLL(None).sleep(60)"),
    "child_is_killed": child_is_killed,
    "dies_as_it_is_interrupted": dies_as_it_is_interrupted,
    "fault_at_exit_is_no_news": fault_at_exit_is_no_news,
    "exits_between_two_cells": exits_as_the_library_ends,
    "startup_file_that_exits": startup("import os\nos._exit(13)\n", r"13|start"),
    "startup_file_that_faults": startup("import ctypes\nctypes.string_at(0)\n", r"[Ss]egmentation|start"),
}


def guarded(kind, name, right, line, code):
    lined = kind in ("memory", "fits", "cells")
    k = kernels.Kernel(options=("--memory", "700MiB") if lined else ()).ready()
    code = code.replace("LIB\n", f"import ctypes\nlib = ctypes.CDLL({str(LIB)!r})\n")
    try:
        k.run("marker = 17")
        if kind == "outside":
            return OUTSIDE[name](k)
        if kind == "cells":
            return judge_cells(k, code)
        sent = k.send(code, stdin=kind == "asks")
        if kind == "asks":
            return judge_asks(k, sent, right)
        ended = earlier.run_to_end(k, sent, 80 if kind == "stall" else 300, kind == "stall")
        reply, said = k.replies.get(sent) if ended else None, k.said(sent)
        if kind == "death":
            causes, _, words = right.partition(";")
            wrong = earlier.judge_death(k, sent, reply, causes.split("|"), line, code)
            if words and not re.search(words, said):
                wrong.append(f"does not say {words!r}")
        elif kind == "lives":
            wrong = earlier.judge_lives(k, sent, reply, "(?m)" + right)
        elif kind == "memory":
            wrong = earlier.judge_memory(k, sent, reply)
        elif kind == "stall":
            told = re.search(right, said, re.I) and "no sign of life" in said
            wrong = ([] if told else [f"said {said[:300]!r}"]) + ([] if earlier.shows(said, code, line) else [f"does not show {line!r}"])
        else:
            wrong = [] if ended and re.search(r"^done$", said, re.M) and "plimsoll" not in said else [f"said {said[-600:]!r}, ended {ended}"]
        return wrong, said
    finally:
        if k.manager.has_kernel:
            k.close()


def plain(kind, name, right, line, code):
    code = code.replace("LIB\n", f"import ctypes\nlib = ctypes.CDLL({str(LIB)!r})\n")
    return earlier.plain("stall" if kind == "stall" else kind, name, "(?m)" + right if kind == "lives" else right, line, code)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cells", nargs="*")
    p.add_argument("--json")
    p.add_argument("--kinds", default="death,outside,lives,memory,cells,fits,stall,works,asks")
    p.add_argument("--jobs", type=int, default=5)
    p.add_argument("--plain", action="store_true")
    a = p.parse_args()
    earlier.make_environment()
    make_library()
    unproved = ("outside", "memory", "cells", "fits", "asks")
    every = CELLS + [("outside", name, "", "", "") for name in OUTSIDE]
    todo = [c for c in every if (c[1] in a.cells if a.cells else c[0] in a.kinds.split(",")) and not (a.plain and c[0] in unproved)]
    rows = []

    def one(cell):
        try:
            wrong, said = (plain if a.plain else guarded)(*cell)
        except Exception as e:
            wrong, said = [f"trouble: {type(e).__name__}: {e}"[:600]], ""
        return {"cell": cell[1], "kind": cell[0], "wrong": wrong, "said": said[-2000:]}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for row in pool.map(one, todo):
            rows.append(row)
            print(f"{row['kind']:7} {row['cell']:45} {'; '.join(row['wrong']) or 'right'}", flush=True)
    for kind in sorted({r["kind"] for r in rows}):
        these = [r for r in rows if r["kind"] == kind]
        print(kind, sum(not r["wrong"] for r in these), "of", len(these))
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
