"""Lets cells stand still in all ways that can be brought about on any machine, and others work slowly, N times each
and all at once, so that they load the machine for one another. Prints how many verdicts were right.

    python bench/guard_stalls.py [--times 20] [--notice 5]

A GPU that does not answer cannot be brought about here; guard/stall_test.cpp judges it from given readings.
"""
import argparse
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python" / "guard"))

# Pages of a file that are thrown out of memory again and again, and so come from disk each time.
THRASH = """import mmap, os, random, tempfile, time
with tempfile.NamedTemporaryFile(dir={folder!r}) as file:
    file.write(os.urandom(64 << 20)); file.flush(); os.fsync(file.fileno())
    pages = mmap.mmap(file.fileno(), 64 << 20, access=mmap.ACCESS_READ)
    pages.madvise(mmap.MADV_RANDOM)
    end = time.monotonic() + {s}
    while time.monotonic() < end:
        pages.madvise(mmap.MADV_DONTNEED)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for _ in range(200): pages[random.randrange(64 << 20)]
"""
ASKS = "input('?')"


def kind_in(text):
    told = re.search(r"no sign of life for [0-9]+ s: ([A-Za-z/ -]+)\.", text)
    return told.group(1) if told else "none"


def verdict_of(kernel, code, notice):
    """The kind that the notice in the cell names; "none" if there was no notice."""
    if code == ASKS:
        kernel.client.execute(code, allow_stdin=True)
        kernel.client.get_stdin_msg(timeout=60)
        text = ""
        try:
            while True:
                text += kernel.client.get_iopub_msg(timeout=notice + 2)["content"].get("text", "")
        except Exception:  # nothing more: it waits
            kernel.client.input("x")
            kernel.client.get_shell_msg(timeout=60)
    else:
        text = kernel.text(code)
    return kind_in(text)


def verdict_of_stall(kernel, code, notice):
    """The same of a cell that stands still until it is interrupted."""
    asked = kernel.client.execute(code)
    try:
        text = kernel.text_until("Nothing was ended", timeout=60 + 5 * notice)
    except Exception:  # nothing came
        text = ""
    kernel.manager.interrupt_kernel()
    kernel.reply_to(asked)
    return kind_in(text)


def run_kind(job):
    name, expected, code, times, notice = job
    from guarded import Kernel

    kernel = Kernel("impatient")
    verdict = verdict_of if expected == "none" else verdict_of_stall
    told = [verdict(kernel, code, notice) for _ in range(times)]
    kernel.close()
    wrong = sorted(set(t for t in told if t != expected))
    return name, expected, sum(t == expected for t in told), wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--notice", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(JUPYTER_DATA_DIR=home + "/data", XDG_STATE_HOME=home + "/state", JUPYTER_RUNTIME_DIR=home)
        from guarded import write_spec
        from test_stalls import STALLS, WORKING

        write_spec(pathlib.Path(home) / "data", "impatient", "--stall-notice", str(options.notice))
        seconds = options.notice + 4
        stalls = {**STALLS, "memory-stalled": THRASH.replace("{folder!r}", repr(str(pathlib.Path.cwd())))}
        jobs = [(name, name, code.replace("{s}", "1000"), options.times, options.notice) for name, code in stalls.items()]
        working = {**WORKING, "waiting for input": ASKS}
        jobs += [(name, "none", code.replace("{s}", str(seconds)), options.times, options.notice) for name, code in working.items()]
        right = 0
        with multiprocessing.get_context("spawn").Pool(len(jobs)) as pool:
            for name, expected, count, wrong in pool.imap(run_kind, jobs):
                right += count
                print(f"{name:<20} expected notice: {expected:<18} {count} of {options.times} right"
                      f"{'; also told: ' + ', '.join(wrong) if wrong else ''}", flush=True)
        share = 100 * right / (len(jobs) * options.times)
        print(f"in all {share:.1f} % right, beside each other on {os.cpu_count()} cores")
    return 0 if share >= 95 else 1


if __name__ == "__main__":
    sys.exit(main())
