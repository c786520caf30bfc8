"""Two builds of ours side by side, row by row: what a change costs or brings.

    python3 bench/two_builds.py OLD/build/bin/plimsoll_bench build/bin/plimsoll_bench mlp100_b32 resnet50_b8 ...

Both stay alive and take turns, first the one, then the other, for --seconds a row. A ratio below 1: the second build is faster.
"""
import argparse
import json
import statistics
import subprocess
import time

LEAST_ROUNDS = 6


class Contender:
    def __init__(self, program, row, threads):
        self.process = subprocess.Popen([program, "--row", row, "--threads", str(threads), "--serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # it is ready
        self.round()  # does not count
        self.times = []

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["value"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def compare(row, options):
    both = [Contender(program, row, options.threads) for program in (options.old, options.new)]
    old, new = both
    end = time.monotonic() + options.seconds
    while time.monotonic() < end or len(new.times) < LEAST_ROUNDS:
        for contender in both if len(new.times) % 2 else reversed(both):
            contender.times.append(contender.round())
    for contender in both:
        contender.end()
    pairs = statistics.quantiles((a / b for a, b in zip(new.times, old.times)), n=4)
    print(f"{row:28s} {min(old.times):10.5g} -> {min(new.times):10.5g}  best {min(new.times) / min(old.times):.3f}  "
          f"median of {len(new.times)} pairs {pairs[1]:.3f} ({pairs[0]:.3f} to {pairs[2]:.3f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=14)
    options = parser.parse_args()
    for row in options.rows:
        compare(row, options)


if __name__ == "__main__":
    main()
