"""make bench [ROWS="..."]: ours and the peers side by side.

Every contender of a row is a process of its own on the same processors; see harness.py for how they take turns. Prints a table and
writes bench/results.json: {machine, threads, versions, date, rows: [{row, unit, ours, peers, left_out, best, ratio}]}, medians of the
rounds, ratio = best peer / ours. Rows that are measured again replace their older values, unless the machine, the threads or the
peers are others: then the file begins anew. --markdown writes the tables of README.md and docs/speed.md, or of docs/keras_speed.md from rows of Keras.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

import image_folder
import load_resnet50
import markdown
from environment import HERE, ROOT, installed, machine_name, peers_python
from harness import READY_TIMEOUT_S, Contender, Machine, busy, summary, take_turns
from rows import BUSY_ROWS, KERAS_ROWS, RESIDENT_ROWS, START_ROWS, contest, peers_of, usual, usual_on_device


def commands(row, options):
    """{contender: command line}, {peer: why it is left out}."""
    threads, run = str(options.threads), contest(row)
    known = options.known.get((row, options.busy)) if options.fast else None
    peers, left_out = peers_of(row, options.versions, known, options.device)
    steps = ["1"] if options.smoke else []
    ours = {"ours": [options.program, "--row", run, "--threads", threads, "--device", options.device, "--serve"]}
    if row in KERAS_ROWS:  # our backend for the same interpreter and script as everyone's
        ours = {"ours": ["env", f"PYTHONPATH={ROOT / 'python'}", options.python, HERE / "peers.py", "keras-plimsoll", run, threads, *steps]}
    return ours | {p: [options.python, HERE / "peers.py", p, run, threads, *steps] for p in peers}, left_out


def measure_steps(row, options):
    lines, left_out = commands(row, options)
    keep = 2 if options.fast else None
    return take_turns(lines, options.threads, options.rounds, f"{options.seed}/{row}", keep, options.device != "cpu"), left_out


def measure_starts(row, options):
    """A process of its own for each round, one after the other; files are in the page cache from the first on."""
    everyone, (lines, left_out) = {}, commands(row, options)
    for i in range(options.rounds + 1):
        for name, command in lines.items():
            begin = time.monotonic()
            contender = Contender(name, command, options.threads)
            answer = contender.answer(READY_TIMEOUT_S)
            seconds = time.monotonic() - begin
            contender.close()
            first = everyone.setdefault(name, contender)
            if answer is None:
                first.error = contender.error
            elif i > 0:
                first.values.append(seconds)
    return list(everyone.values()), left_out


def measure_resident(row, options):
    """Peak resident size in MiB after warm-up and a round of fit(), one process after the other (Linux)."""
    everyone, (lines, left_out) = [], commands(row, options)
    for name, command in lines.items():
        contender = Contender(name, command, options.threads)
        everyone.append(contender)
        contender.ready()
        if contender.alive:
            contender.round()
        if contender.alive:
            status = pathlib.Path(f"/proc/{contender.process.pid}/status").read_text()
            contender.values = [int(status.partition("VmHWM:")[2].split()[0]) / 1024]
            contender.close()
    return everyone, left_out


SPECIAL = {"image_folder": (image_folder.measure, "ms"), "load_resnet50": (load_resnet50.measure, "s")} \
    | {row: (measure_starts, "s") for row in START_ROWS} | {row: (measure_resident, "MiB") for row in RESIDENT_ROWS}


def measure(row, unit, options):
    machine = Machine()
    with busy(options.busy, options.threads):
        everyone, left_out = SPECIAL.get(row, (measure_steps,))[0](row, options)
    for contender in everyone:
        contender.close()
    result = summary(row, unit, everyone, left_out)
    others = machine.others()
    if result is None:
        print(f"{row:<26} ours failed: {everyone[0].error}", file=sys.stderr)
        return None
    for name, why in result["left_out"].items():
        print(f"  {row}: {name} left out: {why}", file=sys.stderr)
    if others > 0.05:
        print(f"  {row}: other processes took {others:.0%} of the machine meanwhile", file=sys.stderr)
    return result | {"others": round(others, 3)} | ({"busy": options.busy} if options.busy else {})


def print_row(result):
    theirs = sorted(((peer["median"], name) for name, peer in result["peers"].items()))
    theirs = "  ".join(f"{name} {value:.4g}" for value, name in theirs)
    ratio = f"{result['ratio']:.2f}x" if result["ratio"] else "-"
    print(f"{result['row']:<26}{result['ours']['median']:>10.4g} {result['unit']:<3}{ratio:>8}   {theirs}", flush=True)


class Results:
    """What stands in the file; rows are replaced one by one."""

    def __init__(self, path, head):
        self.path, self.data = pathlib.Path(path) if path else None, head | {"rows": []}
        old = json.loads(self.path.read_text()) if self.path and self.path.exists() else {}
        if isinstance(old, dict) and all(old.get(key) == head[key] for key in ("machine", "threads", "versions")):
            self.data["rows"] = old["rows"]
            self.data["date"] = old["date"]

    def known(self):
        return {(r["row"], r.get("busy", 0)): r for r in self.data["rows"]}

    def add(self, result):
        rows = self.known() | {(result["row"], result.get("busy", 0)): result}
        self.data["rows"] = list(rows.values())
        if self.path:
            self.path.write_text(json.dumps(self.data, indent=1) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help="rows to run; the usual ones if none is named, a few with --busy")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="and processors, of every contender")
    parser.add_argument("--fast", action="store_true", help="the two fastest peers only: of the results file, else of a quick round")
    parser.add_argument("--smoke", action="store_true", help="does everything run? one round of one step; written nowhere")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep N cores busy meanwhile")
    parser.add_argument("--device", default="cpu", help="of everyone: cpu, or cuda (docs/cuda.md)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of turns")
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "plimsoll_bench"))
    parser.add_argument("--out", help="results.json in this folder, results_cuda.json with --device cuda")
    parser.add_argument("--markdown", action="store_true", help="measure nothing: write the tables from the results file")
    options = parser.parse_args()
    options.out = options.out or str(HERE / ("results.json" if options.device == "cpu" else f"results_{options.device}.json"))
    os.environ["PLIMSOLL_BENCH_DEVICE"] = options.device
    if options.smoke:
        options.rounds, options.out = 1, None
    return parser, options


def units_of(program):
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in listed.splitlines()) | {row: unit for row, (_, unit) in SPECIAL.items()} | KERAS_ROWS


def main():
    parser, options = arguments()
    if options.markdown:
        return markdown.write(pathlib.Path(options.out), ROOT)
    units = units_of(options.program)
    unknown = [row for row in options.rows if row not in units]
    if unknown:
        parser.error(f"no such row: {' '.join(unknown)}; there are {' '.join(units)}")
    options.python = peers_python()
    options.versions = installed(options.python)
    results = Results(options.out, {"machine": machine_name(options.device), "threads": options.threads, "versions": options.versions,
                                    "date": datetime.date.today().isoformat()})
    options.known = results.known()
    usual_rows = usual(units, results.data["machine"]) if options.device == "cpu" else usual_on_device()
    rows = options.rows or (BUSY_ROWS if options.busy else usual_rows)
    others = f", {options.busy} cores busy" if options.busy else ""
    print(f"{'row':<26}{'ours':>10} {'':<3}{'ratio':>8}   peers ({options.threads} threads{others}, medians of {options.rounds})")
    done = 0
    for row in rows:
        result = measure(row, units[row], options)
        if result is not None:
            done += 1
            print_row(result)
            results.add(result)
    return 0 if done == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
