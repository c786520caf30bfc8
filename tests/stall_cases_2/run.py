"""Runs each cell in a real ipykernel under the guard and keeps what the guard wrote into it.

    python run.py PLIMSOLL OUT.json [--notice 8] [--at-once 4] [NAME ...]

Needs ipykernel and jupyter_client; what the guard writes begins with its name. A stall is right if the first line of the
notice has one of its words, and it shows the line that waits; work is right if nothing was written (a cell may end early or late: machines differ)."""

import argparse
import concurrent.futures
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import time

from stalls import STALLS
from work import WORK

options = argparse.ArgumentParser()
options.add_argument("program")
options.add_argument("out")
options.add_argument("--notice", type=int, default=8)
options.add_argument("--at-once", type=int, default=4)
options.add_argument("names", nargs="*")
options = options.parse_intermixed_args()

folder = tempfile.mkdtemp(prefix="stalls_")
os.environ["JUPYTER_DATA_DIR"] = folder
os.environ["XDG_STATE_HOME"] = folder
os.environ["VIRTUAL_ENV"] = sys.prefix
os.environ["PATH"] = f"{sys.prefix}/bin:" + os.environ["PATH"]
from jupyter_client.manager import KernelManager  # noqa: E402

LONG = 3 * options.notice + 4  # for how long a cell is watched


def text_of(message):
    content = message["content"]
    if message["msg_type"] == "stream":
        return content["text"]
    if message["msg_type"] in ("display_data", "update_display_data"):
        return str(content["data"].get("text/plain", ""))
    return "\n".join(content["traceback"]) if message["msg_type"] == "error" else ""


def watch(code, until_notice):
    """What was written into the cell, when it came first, and whether the cell ended."""
    manager = KernelManager(kernel_name="guarded")
    manager.start_kernel()
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=400)
        request, begun, said, first, ended = client.execute(code, allow_stdin=True), time.time(), "", None, None
        while time.time() - begun < LONG and ended is None and not (until_notice and first and time.time() - begun > first + 2):
            try:
                message = client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                ended = time.time() - begun
            if "plimsoll" in (text := text_of(message)):
                said, first = said + text, first or time.time() - begun
        return {"said": said, "first": first and round(first, 1), "ended": ended and round(ended, 1), "load": os.getloadavg()[0]}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def stall(name):
    code, words, _ = STALLS[name]
    code = code.strip("\n")
    number, line = next((i + 1, t.split("# LINE")[0].strip()) for i, t in enumerate(code.split("\n")) if "# LINE" in t)
    result = watch(code.replace("  # LINE", ""), True)
    result["named"] = bool(re.search(words, result["said"].split("\n")[0], re.I))
    result["line"] = line.rstrip(":") in result["said"] or bool(re.search(rf"line {number}\b", result["said"]))
    return "right" if result["named"] and result["line"] else "no line" if result["named"] else "wrong words" if result["said"] else "missed", result


def work(name):
    result = watch(WORK[name].strip("\n").replace("SECONDS", str(LONG - 2)), False)
    return "left alone" if not result["said"] else "FALSE ALARM", result


def one(name):
    try:
        verdict, result = (stall if name in STALLS else work)(name)
    except Exception as error:
        verdict, result = "NOT RUN", {"said": repr(error)}
    print(f"{name:42} {verdict:12} {result.get('first')} {result.get('ended')} {result['said'][:110]!r}", flush=True)
    return name, {"verdict": verdict, **result}


def main():
    subprocess.run([options.program, "kernel", "install", "--of", "python3", "--name", "guarded", "--stall-notice", str(options.notice)], check=True)
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        results = dict(pool.map(one, options.names or [*STALLS, *WORK]))
    with open(options.out, "w") as file:
        json.dump(results, file, indent=1)
    count = {v: sum(r["verdict"] == v for r in results.values()) for v in sorted({r["verdict"] for r in results.values()})}
    print(count)


main()
