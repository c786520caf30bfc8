"""Injects deaths of all kinds, N times each, and prints how many causes were named right, how many kernels went on, and
how long after the death of the process its cell had an answer. All kinds take turns. Each death is a line in a file, from
which a run that was cut short goes on.

    python bench/guard_deaths.py [--times 100] [--kinds "segfault,exit"] [--minutes 0] [--results guard_deaths.jsonl]
"""
import argparse
import collections
import json
import os
import pathlib
import select
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python" / "guard"))


def watch(pid):
    """A thread that notes when the process ends, and where it notes it."""
    died, handle = [], os.pidfd_open(pid)

    def wait():
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if poll.poll(120_000):
            died.append(time.monotonic())
        os.close(handle)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread, died


def inject(kernel, kind, state):
    """One death in a kernel and a cell after it, as a line of the results."""
    import deaths

    cause, code, _ = deaths.DEATHS[kind]
    # Loading the crasher beforehand leaves the death itself to be timed.
    thread, died = watch(int(kernel.text(deaths.LOAD + "print(os.getpid())").split()[-1]))
    begin = time.monotonic()
    reply = kernel.run(code)
    replied = begin + reply["seconds"]
    thread.join()
    named = deaths.cause_in(reply, state)[0] if reply["content"].get("ename") == "KernelDied" else "no death"
    usable = kernel.run("1")["content"]["status"] == "ok"
    return {"kind": kind, "cause": cause, "named": named, "usable": usable, "seconds": replied - died[0] if died else None}


def report(lines):
    """Prints the table; whether all is well."""
    kinds = collections.defaultdict(list)
    for line in lines:
        kinds[line["kind"]].append(line)
    for kind, its in kinds.items():
        right = sum(line["named"] == line["cause"] for line in its)
        wrong = collections.Counter(line["named"] for line in its if line["named"] != line["cause"])
        said = "".join(f"; {count} as {name}" for name, count in wrong.items())
        print(f"{kind:<20} cause right {right} of {len(its)}, next cell runs {sum(line['usable'] for line in its)}{said}")
    right = sum(line["named"] == line["cause"] for line in lines)
    seconds = sorted(line["seconds"] for line in lines if line["seconds"] is not None)
    if seconds:
        p50, p99 = (1e3 * seconds[int(q * len(seconds))] for q in (0.5, 0.99))
        print(f"in all {right} of {len(lines)} right; death to reply: p50 {p50:.0f} ms, p99 {p99:.0f} ms, "
              f"longest {1e3 * seconds[-1]:.0f} ms", flush=True)
    return right == len(lines) == sum(line["usable"] for line in lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so many; 0: never")
    parser.add_argument("--results", default="guard_deaths.jsonl")
    options = parser.parse_args()
    results = pathlib.Path(options.results)
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, results.open("a") as file:
        os.environ.update(JUPYTER_DATA_DIR=home + "/data", XDG_STATE_HOME=home + "/state", JUPYTER_RUNTIME_DIR=home)
        import deaths
        from guarded import Kernel, write_spec

        write_spec(pathlib.Path(home) / "data", "guarded")
        deaths.write_death_specs(pathlib.Path(home) / "data")
        kinds = options.kinds.split(",") if options.kinds else list(deaths.DEATHS)
        kernels = {kind: Kernel(deaths.DEATHS[kind][2]) for kind in kinds}
        done = collections.Counter(line["kind"] for line in lines)
        end = time.monotonic() + 60 * options.minutes if options.minutes > 0 else float("inf")
        while time.monotonic() < end and any(done[kind] < options.times for kind in kinds):
            for kind in kinds:
                if done[kind] >= options.times:
                    continue
                try:
                    line = inject(kernels[kind], kind, home + "/state")
                except Exception as e:  # an answer that never came is a result as well
                    line = {"kind": kind, "cause": deaths.DEATHS[kind][0], "named": f"{type(e).__name__}: {e}",
                            "usable": False, "seconds": None}
                    kernels[kind].close()
                    kernels[kind] = Kernel(deaths.DEATHS[kind][2])
                done[kind] += 1
                lines.append(line)
                print(json.dumps(line), file=file, flush=True)
        for kernel in kernels.values():
            kernel.close()
        deaths.remove_outer()
    return 0 if report(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
