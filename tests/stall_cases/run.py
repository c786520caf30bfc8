"""Scores the stall watch of `plimsoll guard` on cells it was not written for.

    python tests/stall_cases/run.py --plimsoll build/bin/plimsoll [--only WORDS] [--kinds stalls,works,calls]

Each cell runs in a fresh Jupyter kernel under guard. A stall is right when a notice says what it is and names the line;
a cell that works is right when nothing is said; a call is right when it gives what it gives in a plain kernel, no sooner.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

import calls
import stalls
import works

Row = collections.namedtuple("Row", "kind name verdict detail seconds")
MARK = "PLIMSOLL_STALL_CASES"


def kernel_command(plimsoll, notice):
    kernel = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    return [plimsoll, "guard", "-f", "{connection_file}", "--stall-notice", str(notice), "--", *kernel] if plimsoll else kernel


class Kernel:
    """One kernel in a folder of its own; run() yields what a cell writes until it ends or `limit` seconds have passed."""

    def __init__(self, plimsoll, notice):
        self.folder = tempfile.mkdtemp(prefix="stall-case-")
        self.mark = uuid.uuid4().hex
        self.manager = KernelManager()
        self.manager._kernel_spec = KernelSpec(argv=kernel_command(plimsoll, notice), display_name="case", language="python")
        self.manager.start_kernel(cwd=self.folder, env=dict(os.environ, **{MARK: self.mark}), stderr=subprocess.DEVNULL)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(120)

    def run(self, cell, limit):
        request = self.client.execute(cell, allow_stdin=True)
        end = time.monotonic() + limit
        while time.monotonic() < end:
            try:
                message = self.client.get_iopub_msg(timeout=0.5)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            content = message["content"]
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                return
            yield message["msg_type"], content

    def close(self):
        end_marked(self.mark)
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        end_marked(self.mark)
        shutil.rmtree(self.folder, ignore_errors=True)


def end_marked(mark):
    """Ends what the cell left behind, stopped processes too: they bear the mark in their environment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                ours = f"{MARK}={mark}".encode() in f.read()
            if ours:
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


def notices(kernel, cell, limit, stop_at_first):
    """(seconds, text) of each notice, and the error a cell raised by itself, if any."""
    started, said, error = time.monotonic(), [], None
    for kind, content in kernel.run(cell, limit):
        if kind == "stream" and "plimsoll:" in content["text"]:
            said.append((time.monotonic() - started, content["text"]))
            if stop_at_first:
                break
        if kind == "error":
            error = f"{content['ename']}: {content['evalue']}"
    return said, error


def with_kernel(plimsoll, notice, use):
    kernel = Kernel(plimsoll, notice)
    try:
        return use(kernel)
    finally:
        kernel.close()


def judge_stall(name, said, cell, found):
    heard, error = found
    line = next((i for i, text in enumerate(cell.split("\n"), 1) if text.endswith("# HERE")), None)
    if not heard:
        return "missed", error or ""
    seconds, text = heard[0]
    first = text.split("\n")[0]
    if not re.search(said, first, re.I):
        return "wrong", first
    if line and not re.search(rf"line {line}\b", text):
        return "no line", f"expected line {line}: {text}"
    return "right", f"after {seconds:.0f} s: {first}"


def run_stall(args, name):
    said, cell = stalls.STALLS[name]
    if args.check:
        return check_cell(args, name, cell, endless=True)
    found = with_kernel(args.plimsoll, args.notice, lambda k: notices(k, cell, 4 * args.notice + 8, stop_at_first=True))
    return judge_stall(name, said, cell, found)


def run_work(args, name):
    cell = works.WORKS[name]
    if args.check:
        return check_cell(args, name, cell, endless=False)
    said, error = with_kernel(args.plimsoll, args.notice, lambda k: notices(k, cell, 2 * works.SECONDS, stop_at_first=False))
    if said:
        return "false alarm", said[0][1]
    return ("broken", error) if error else ("right", "")


def check_cell(args, name, cell, endless):
    """In a plain kernel: a stall must not end, work must end by itself and without an error (questions are left open)."""

    def use(kernel):
        started = time.monotonic()
        errors = [f"{c['ename']}: {c['evalue']}" for kind, c in kernel.run(cell, 2 * works.SECONDS) if kind == "error"]
        return time.monotonic() - started, errors

    seconds, errors = with_kernel(None, 0, use)
    ended = seconds < 2 * works.SECONDS - 1
    asks = "input(" in cell or "set_trace(" in cell
    fair = not errors and (not ended if endless or asks else ended and seconds >= works.SECONDS - 2)
    return ("right" if fair else "broken"), f"{seconds:.1f} s {errors}"


def time_call(plimsoll, notice, name):
    def use(kernel):
        out = "".join(
            c.get("text", "") or c.get("evalue", "") for kind, c in kernel.run(calls.cell(name), 60) if kind in ("stream", "error")
        )
        found = re.search(r"^\[.*\]$", out, re.M)
        return json.loads(found.group()) if found else [out, 0]

    return with_kernel(plimsoll, notice, use)


def run_call(args, name):
    plain, guarded = time_call(None, 0, name), time_call(args.plimsoll, 2, name)
    if plain[1] < calls.SECONDS - 0.2:
        return "broken", f"plain kernel: {plain}"
    same = plain[0] == guarded[0] and guarded[1] >= calls.SECONDS - 0.2
    return ("right" if same else "changed"), f"plain {plain}, guarded {guarded}"


def chosen(args):
    kinds = {"stalls": (stalls.STALLS, run_stall), "works": (works.WORKS, run_work), "calls": (calls.CALLS, run_call)}
    return [(kind, name, kinds[kind][1]) for kind in args.kinds.split(",") for name in kinds[kind][0] if args.only in name]


def run_one(args, kind, name, run):
    started = time.monotonic()
    try:
        verdict, detail = run(args, name)
    except Exception as e:  # a kernel that does not start is a result too
        verdict, detail = "broken", repr(e)
    row = Row(kind, name, verdict, detail, time.monotonic() - started)
    print(
        f"{kind:7} {name:48} {verdict:12} {row.seconds:5.0f} s  {'' if verdict == 'right' and not args.verbose else detail.strip()}",
        flush=True,
    )
    return row


def print_score(rows):
    print()
    for kind in dict.fromkeys(row.kind for row in rows):
        counts = collections.Counter(row.verdict for row in rows if row.kind == kind)
        print(
            f"{kind}: {counts['right']} of {sum(counts.values())} right"
            + "".join(f", {n} {v}" for v, n in sorted(counts.items()) if v != "right")
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--check", action="store_true", help="run stalls and works in plain kernels: are the cases what they say?")
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", default="stalls,works,calls")
    parser.add_argument("--notice", type=float, default=4)
    parser.add_argument("--jobs", type=int, default=5)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda case: run_one(args, *case), chosen(args)))
    print_score(rows)
    return 0 if all(row.verdict == "right" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
