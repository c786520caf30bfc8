"""Injects deaths of all kinds, N times each, and prints how many causes were named right and how long a cell waited
for its answer.

    python bench/guard_deaths.py [--times 100] [--kinds "segfault,exit"]
"""
import argparse
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python" / "guard"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--kinds", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(JUPYTER_DATA_DIR=home + "/data", XDG_STATE_HOME=home + "/state", JUPYTER_RUNTIME_DIR=home)
        import deaths
        from conftest import Kernel, write_spec

        write_spec(pathlib.Path(home) / "data", "guarded")
        deaths.write_death_specs(pathlib.Path(home) / "data")
        seconds, wrong = [], 0
        for name in options.kinds.split(",") if options.kinds else deaths.DEATHS:
            cause, code, spec = deaths.DEATHS[name]
            kernel = Kernel(spec)
            right = usable = 0
            for _ in range(options.times):
                # Loading the crasher beforehand leaves the death itself to be timed.
                kernel.run(deaths.LOAD)
                reply = kernel.run(code)
                seconds.append(reply["seconds"])
                right += deaths.cause_in(reply, home + "/state")[0] == cause
                usable += kernel.run("1")["content"]["status"] == "ok"
            kernel.close()
            wrong += options.times - right
            print(f"{name:<20} cause right {right} of {options.times}, next cell runs {usable}", flush=True)
        seconds.sort()
        print(f"cell to reply: p50 {1e3 * seconds[len(seconds) // 2]:.0f} ms, p99 {1e3 * seconds[int(0.99 * len(seconds))]:.0f} ms")
        deaths.remove_outer()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
