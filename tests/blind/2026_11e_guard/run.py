#!/usr/bin/env python3
"""run.py [cell ...] [--json FILE] [--jobs N] [--kinds death,lives,...] [--plain]: the cells of cells.py under the guard, or (--plain) without it.

death   the cell gets an error and a reply, the cause is one of those named, the line is shown, the next cell runs in a new kernel
lives   the cell says what is named, and the kernel still has its variables; no death is reported
memory  (line at 700 MiB) refused or interrupted with a word about it and the kernel lives on, or a death that is called a want of memory
stall   told within 80 s: what is named, and the line; the guard's own 30 s
works   runs some 45 s, prints "done", and the guard says nothing
--plain: death: the kernel dies; lives: it lives; stall: no end within 20 s; works: 32 s or more, then "done". memory is not proved.
"""
import argparse, concurrent.futures, json, os, pathlib, re, subprocess, sys, time

os.environ.setdefault("BLIND_ROOT", "/tmp/blind_guard_5")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "2026_11d_guard"))
import kernels  # noqa: E402
from cells import CELLS  # noqa: E402

MEMORY = {"memory_line", "cgroup_oom", "bad_alloc"}
PACKAGES = ["ipykernel==7.4.0", "pandas==2.0.3", "opencv-python-headless==4.8.1.78", "joblib==1.5.2", "dask==2025.9.1", "tqdm", "requests", "tensorflow-cpu==2.15.1", "numpy<2"]


def make_environment():
    """The system's Python (that of Debian 12, with its python3-torch), and the packages above."""
    if not kernels.PYTHON.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", kernels.ROOT / "env"], check=True)
        subprocess.run([os.environ.get("BLIND_PIP", "pip"), "--python", kernels.PYTHON, "install", "-q", *PACKAGES], check=True)
    subprocess.run([kernels.PYTHON, "-m", "ipykernel", "install", "--sys-prefix"], check=True, capture_output=True)


def shows(said, code, line):
    lines = code.splitlines()
    shown = [lines[int(n) - 1] for n in re.findall(r"line (\d+)", said) if 0 < int(n) <= len(lines)]
    return not line or line in said or any(line in s for s in shown)


def judge_death(k, sent, reply, right, line, code):
    said, wrong = k.said(sent), []
    report = k.report(said)
    if reply is None:
        return ["no reply"]
    if report is None:
        return [f"no report: {said[-300:]!r}"]
    if report["cause"] not in right:
        wrong.append(f"cause {report['cause']}")
    if not shows(said, code, line):
        wrong.append(f"does not show {line!r}")
    if k.value("6 * 7") != "42" or k.seen_dead():
        wrong.append("the next cell does not run")
    return wrong


def judge_lives(k, sent, reply, right):
    said, wrong = k.said(sent), []
    if reply is None:
        return ["no reply"]
    if not re.search(right, said):
        wrong.append(f"does not say {right!r}: {said[-300:]!r}")
    if k.value("marker") != "17" or k.reports():
        wrong.append("not the same kernel")
    return wrong


def judge_memory(k, sent, reply):
    if reply is None:
        return [f"no reply; said {k.said(sent)[-300:]!r}"]
    said = k.said(sent)
    if k.report(said):
        return judge_death(k, sent, reply, MEMORY, "", "")
    wrong = []
    if re.search(r"^took it all", said, re.M):
        wrong.append("the line was crossed by far")
    if k.value("marker") != "17":
        wrong.append("not the same kernel")
    if reply["status"] != "error" and "plimsoll" not in said:
        wrong.append(f"nothing is said: {said[-300:]!r}")
    return wrong


def run_to_end(k, sent, limit, until_told=False):
    begin, told, ended = time.monotonic(), None, None
    while ended is None and time.monotonic() - begin < limit and not (told and time.monotonic() > told + 3):
        k.pump(0.5)
        if sent in k.replies and any(m["content"]["execution_state"] == "idle" for m in k.of(sent, "status")):
            ended = time.monotonic() - begin
        if until_told and not told and "plimsoll:" in k.said(sent):
            told = time.monotonic()
    return ended


def guarded(kind, name, right, line, code):
    k = kernels.Kernel(options=("--memory", "700MiB") if kind == "memory" else ()).ready()
    try:
        k.run("marker = 17")
        sent = k.send(code)
        ended = run_to_end(k, sent, 80 if kind == "stall" else 300, kind == "stall")
        reply, said = k.replies.get(sent) if ended else None, k.said(sent)
        if kind == "death":
            wrong = judge_death(k, sent, reply, right.split("|"), line, code)
        elif kind == "lives":
            wrong = judge_lives(k, sent, reply, right)
        elif kind == "memory":
            wrong = judge_memory(k, sent, reply)
        elif kind == "stall":
            told = re.search(right, said, re.I) and "no sign of life" in said
            wrong = ([] if told else [f"said {said[:300]!r}"]) + ([] if shows(said, code, line) else [f"does not show {line!r}"])
        else:
            wrong = [] if ended and re.search(r"^done$", said, re.M) and "plimsoll" not in said else [f"said {said[-600:]!r}, ended {ended}"]
        return wrong, said
    finally:
        k.close()


def plain(kind, name, right, line, code):
    k = kernels.Kernel(plain=True).ready()
    try:
        pid = k.kernel_pid()
        sent = k.send(code)
        ended = run_to_end(k, sent, 20 if kind == "stall" else 60 if kind == "death" else 300)
        said = k.said(sent)
        if kind == "death":
            k.pump(2)
            good = ended is None and not k.manager.is_alive()
        elif kind == "stall":
            good = ended is None and os.path.exists(f"/proc/{pid}")
        elif kind == "lives":
            good = ended and re.search(right, said)
        else:
            good = ended and ended >= 32 and re.search(r"^done$", said, re.M)
        return [] if good else [f"not proved: ended {ended}, said {said[-600:]!r}"], said
    finally:
        k.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cells", nargs="*")
    p.add_argument("--json")
    p.add_argument("--kinds", default="death,lives,memory,stall,works")
    p.add_argument("--jobs", type=int, default=5)
    p.add_argument("--plain", action="store_true")
    a = p.parse_args()
    make_environment()
    todo = [c for c in CELLS if (c[1] in a.cells if a.cells else c[0] in a.kinds.split(",")) and not (a.plain and c[0] == "memory")]
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
