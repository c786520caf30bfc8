"""Generated cases of (model, batch, line), each in a process of its own in a control group with a hard limit.

    python3 tests/line_cases/run.py --program build/bin/line_case [--cases 300] [--first 0] [--every 1] [--scale 1] [--jobs 1]

A case trains with the process never above its line by the system's count (VmHWM), or is refused before the first batch and
names a least line: with it the model trains, 5 percent below it is refused (line_case.cpp). The control group is one below our
own (v1), or beside it (v2), with 2 MiB more than the case's line, set by the case; where none can be made, VmHWM alone is looked
at, which the output says. A process that is killed fails its case.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys


def group_folder():
    """Where groups for the cases can be made, and the name of the file with the limit; None if nowhere."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            folder = pathlib.Path("/sys/fs/cgroup/memory" + path)
            return (folder, "memory.limit_in_bytes") if (folder / "memory.limit_in_bytes").exists() else None
        if controllers == "" and path != "/":
            folder = pathlib.Path("/sys/fs/cgroup" + path).parent
            return (folder, "memory.max") if (folder / "cgroup.subtree_control").exists() else None
    return None


class Group:
    """A control group for one case; without one it does nothing."""

    def __init__(self, name):
        self.folder = self.limit = None
        where = group_folder()
        if where is None:
            return
        folder = where[0] / name
        try:
            folder.mkdir()
        except OSError:
            return
        self.folder, self.limit = folder, folder / where[1]

    def enter(self):
        if self.folder is not None:
            (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        if self.folder is not None:
            self.folder.rmdir()


def run_case(args, seed):
    group = Group(f"plimsoll-{os.getpid()}-{seed}")
    command = [args.program, str(seed), str(args.scale)] + ([str(group.limit)] if group.limit else [])
    try:
        done = subprocess.run(command, preexec_fn=group.enter, capture_output=True, text=True)
    finally:
        group.close()
    text = done.stdout.strip() or done.stderr.strip()
    if done.returncode < 0:
        return "killed", f"signal {-done.returncode} {text}"
    return (text.split()[0] if done.returncode == 0 else "failed"), text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="of the seeds; 4: those whose line has no room beyond the forecast")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    where = group_folder()
    print(f"hard limits: {where[1]} below {where[0].parts[3]}" if where else "hard limits: none here, VmHWM alone", flush=True)
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        seeds = range(args.first, args.first + args.cases * args.every, args.every)
        for seed, (verdict, text) in zip(seeds, pool.map(lambda s: run_case(args, s), seeds)):
            counts[verdict] += 1
            if verdict in ("killed", "failed"):
                print(f"case {seed}: {text}", flush=True)
    print(f"{args.cases} cases from seed {args.first}, scale {args.scale}: " + ", ".join(f"{n} {v}" for v, n in sorted(counts.items())))
    return 1 if counts["killed"] + counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
