"""Injects deaths of all kinds, N times each, and prints how many causes were named right, how many kernels went on, and
how long a cell waited for its answer. All kinds take turns, so that a run cut short has seen each as often.

    python bench/guard_deaths.py [--times 100] [--kinds "segfault,exit"] [--minutes 0]
"""
import argparse
import collections
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python" / "guard"))


class Score:
    def __init__(self):
        self.right = self.usable = self.total = 0
        self.wrong = collections.Counter()
        self.seconds = []


def inject(kernel, death, score, state):
    """One death in a kernel, and a cell after it."""
    import deaths

    cause, code, _ = death
    # Loading the crasher beforehand leaves the death itself to be timed.
    kernel.run(deaths.LOAD)
    reply = kernel.run(code)
    named = deaths.cause_in(reply, state)[0] if reply["content"].get("ename") == "KernelDied" else "no death"
    score.total += 1
    score.right += named == cause
    score.seconds.append(reply["seconds"])
    if named != cause:
        score.wrong[named] += 1
    score.usable += kernel.run("1")["content"]["status"] == "ok"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so many; 0: never")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(JUPYTER_DATA_DIR=home + "/data", XDG_STATE_HOME=home + "/state", JUPYTER_RUNTIME_DIR=home)
        import deaths
        from guarded import Kernel, write_spec

        write_spec(pathlib.Path(home) / "data", "guarded")
        deaths.write_death_specs(pathlib.Path(home) / "data")
        kinds = options.kinds.split(",") if options.kinds else list(deaths.DEATHS)
        kernels = {name: Kernel(deaths.DEATHS[name][2]) for name in kinds}
        scores = {name: Score() for name in kinds}
        end = time.monotonic() + 60 * options.minutes if options.minutes > 0 else float("inf")
        for _ in range(options.times):
            for name in kinds:
                inject(kernels[name], deaths.DEATHS[name], scores[name], home + "/state")
            if time.monotonic() > end:
                break
        for kernel in kernels.values():
            kernel.close()
        for name, s in scores.items():
            wrong = ", ".join(f"{count} as {cause}" for cause, count in s.wrong.items())
            print(f"{name:<20} cause right {s.right} of {s.total}, next cell runs {s.usable}{'; ' + wrong if wrong else ''}")
        seconds = sorted(t for s in scores.values() for t in s.seconds)
        print(f"in all {sum(s.right for s in scores.values())} of {len(seconds)} right; cell to reply: "
              f"p50 {1e3 * seconds[len(seconds) // 2]:.0f} ms, p99 {1e3 * seconds[int(0.99 * len(seconds))]:.0f} ms")
        deaths.remove_outer()
    return 0 if all(s.right == s.usable == s.total for s in scores.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
