"""Runs the cases of make.py through `plimsoll train --memory`, each in a control group with a hard limit 2 MiB over its line.

    python3 tests/line_cases/users/run.py FOLDER --program build/bin/plimsoll [--jobs 2] [--cases SEED ...] [--json scores.json]

Each case is first trained without a line; from the highest count of that the line follows, which stays with the case. The peak is the system's count of the
process and its children (ru_maxrss, bytes above the line are over whether it trained or was refused before the first batch).
What is refused has to name a line with which it trains, and 5 percent below which it does not.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from run import Group

MIB = 1 << 20
OVER = 2 * MIB  # page tables and the like, which the group counts and the line does not


class Run:
    """One `plimsoll train`; what came of it."""

    def __init__(self, program, folder, case, line, name):
        command = [program, "train", case["model"], *case["args"]] + (["--memory", str(line)] if line else [])
        group = Group(name)
        begun = time.time()
        try:
            if line and group.limit:
                group.limit.write_text(str(line + OVER))
            with open(folder / "said.txt", "w+") as said:
                process = subprocess.Popen(command, cwd=folder, preexec_fn=group.enter, stdout=said, stderr=subprocess.STDOUT)
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = 0
                said.seek(0)
                self.text = said.read()
        finally:
            for _ in range(50):
                try:
                    group.close()
                    break
                except OSError:
                    time.sleep(0.1)
        self.code = os.waitstatus_to_exitcode(status)
        self.peak = used.ru_maxrss * 1024
        self.seconds = time.time() - begun
        self.line = line
        found = re.search(r"least line that would do is ([0-9.]+ ?[KMG]iB|[0-9]+ bytes)", self.text)
        self.least = parse(found.group(1)) if found else None

    def outcome(self):
        if self.code < 0 or self.code == 137:
            return "killed"
        if self.code == 0:
            return "trained"
        return "refused" if self.code == 3 else "failed"


def parse(text):
    number, unit = re.fullmatch(r"([0-9.]+) ?(bytes|[KMG]iB)", text).groups()
    return int(float(number) * {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit] + 0.999)


def mib(n):
    return None if n is None else round(n / MIB, 2)


def judge(program, folder):
    case = json.loads((folder / "case.json").read_text())
    seed = folder.name
    name = lambda step: f"plimsoll-{os.getpid()}-{seed}-{step}"
    out = {"seed": seed, "family": case["family"], "policy": case["policy"]}
    if "bytes" not in case["line"]:  # the first run of this case
        free = Run(program, folder, case, None, name("free"))
        out |= {"free": mib(free.peak), "seconds": round(free.seconds, 1)}
        if free.code != 0:
            return out | {"verdict": "not a case", "text": free.text[-600:]}
        own = json.loads((folder.parent / "own.json").read_text())
        said = case["line"]
        said["bytes"] = int(own + said["more"] * MIB if "more" in said else own + said["share"] * max(free.peak - own, MIB))
        (folder / "case.json").write_text(json.dumps(case))
    line = case["line"]["bytes"]
    first = Run(program, folder, case, line, name("first"))
    out |= {"line": mib(line), "outcome": first.outcome(), "peak": mib(first.peak), "over": mib(first.peak - line), "line_seconds": round(first.seconds, 1)}
    wrong = []
    if first.outcome() in ("killed", "failed"):
        wrong.append(first.outcome())
        out["text"] = first.text[-600:]
    if first.peak > line:
        wrong.append("over" if first.outcome() != "refused" else "over when refused")
    if first.outcome() == "refused":
        out |= {"least": mib(first.least)}
        if "Epoch" in first.text:
            wrong.append("refused after it began")
        if first.least is None:
            wrong.append("names no line")
            out["text"] = first.text[-600:]
        else:
            at = Run(program, folder, case, first.least, name("least"))
            out |= {"at_least": at.outcome(), "over_at_least": mib(at.peak - first.least)}
            if at.outcome() != "trained":
                wrong.append("least too low" if at.outcome() == "refused" else f"{at.outcome()} at least")
                out |= {"then": mib(at.least), "text": at.text[-600:]}
            elif at.peak > first.least:
                wrong.append("over at least")
            lower = first.least - first.least // 20
            if lower > line:
                below = Run(program, folder, case, lower, name("below"))
                out |= {"below": below.outcome(), "over_below": mib(below.peak - lower)}
                if below.outcome() == "trained" and below.peak <= lower:
                    wrong.append("least too high")
                elif below.outcome() != "refused":
                    wrong.append(f"{'over' if below.outcome() == 'trained' else below.outcome()} below least")
                elif below.peak > lower:
                    wrong.append("over when refused")
    return out | {"verdict": ", ".join(dict.fromkeys(wrong)) or "right"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cases", nargs="*")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    program = str(pathlib.Path(args.program).resolve())
    # what the program takes before a model is loaded, as its own refusal names it
    (args.folder / "own.json").write_text(str(own_size(program)))
    folders = sorted((f for f in args.folder.iterdir() if f.is_dir()), key=lambda f: int(f.name))
    if args.cases:
        folders = [f for f in folders if f.name in args.cases]
    counts, all_of = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for out in pool.map(lambda f: judge(program, f), folders):
            counts[out["verdict"]] += 1
            all_of.append(out)
            print(" ".join(f"{k}={v!r}" if k == "text" else f"{k}={v}" for k, v in out.items()), flush=True)
    print(", ".join(f"{n} {v}" for v, n in counts.most_common()))
    if args.json:
        args.json.write_text(json.dumps(all_of, indent=1))


def own_size(program):
    with open(os.devnull, "w") as null:
        process = subprocess.Popen([program, "devices"], stdout=null, stderr=null)
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_maxrss * 1024


if __name__ == "__main__":
    main()
