"""make bench [ROWS="..."]: ours and the peers side by side.

Every contender of a row is a process of its own that stays alive; rounds go round in turns, so that noise hits all alike.
Prints a table and writes bench/results.json: [{row, unit, ours, peers: {name: value}, ratio}], medians of the rounds,
ratio = best peer / ours. --fast asks the two fastest peers only; a peer that cannot run is left out and named. --busy keeps
cores busy meanwhile, as other users of a shared machine do.
"""
import argparse
import contextlib
import json
import os
import pathlib
import select
import statistics
import subprocess
import sys
import time
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
KERAS = ["keras-tensorflow", "keras-jax", "keras-torch"]
MODEL_PEERS = ["torch", "torch-compile"] + KERAS
# Peers that need minutes for a round of these rows, or more memory than a small machine has.
TOO_SLOW = {"cnn100_b512": ["keras-jax", "keras-torch", "torch-compile"]}
# Rows about whole processes: from its start to the end of the first step of fit(), and the most memory fit() has taken.
START_ROWS = ["start_mnist_b128"]
RESIDENT_ROWS = ["resident_" + m for m in ("mlp100_b32", "mnist_b128", "cnn64bn_b32", "resnet50_b8", "lstm_b32", "transformer_b16")]
READY_TIMEOUT_S = 240
ROUND_TIMEOUT_S = 120


def peers_python():
    """The interpreter of the peers' environment, which is made if there is none."""
    home = pathlib.Path(os.environ.get("PLIMSOLL_PEERS", ROOT / ".venv-peers"))
    python = home / "bin" / "python"
    if not python.exists():
        print(f"installing the peers into {home} (some minutes)", flush=True)
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements-peers.txt"], check=True)
    return str(python)


class Contender:
    """A process that answers each line with a round's value."""

    def __init__(self, name, command):
        self.name, self.values, self.error = name, [], None
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, bufsize=1)
        os.set_blocking(self.process.stderr.fileno(), False)

    def answer(self, timeout):
        """The next line it prints, or None if it has ended or said nothing for `timeout` seconds."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                line = self.process.stdout.readline()
                return json.loads(line) if line else self.give_up("ended")
            self.drain()
        return self.give_up(f"no answer in {timeout} s")

    def drain(self):
        try:
            self.last = (self.process.stderr.read() or "").strip().splitlines()[-1:] or getattr(self, "last", [])
        except (OSError, TypeError):
            pass

    def give_up(self, why):
        self.drain()
        self.error = f"{why}: {' '.join(getattr(self, 'last', []))[:100]}"
        self.close()

    def round(self):
        self.process.stdin.write("\n")
        answer = self.answer(ROUND_TIMEOUT_S)
        if answer is not None:
            self.values.append(answer["value"])

    def close(self):
        self.process.kill()
        self.process.wait()


def peers_of(row, fast):
    model = row.removesuffix("_predict").removeprefix("fit_").removeprefix("start_").removeprefix("resident_")
    if row == "compile_resnet50":
        return []
    if row == "eager_add8":
        return ["torch"]
    if not row.endswith("_predict") and "_b" not in row:
        return ["torch"]
    peers = [p for p in MODEL_PEERS if p not in TOO_SLOW.get(model, [])]
    if row in START_ROWS + RESIDENT_ROWS:
        peers.remove("torch-compile")  # starts later than torch and holds more
    return [p for p in peers if p in ("torch", "keras-jax" if model.startswith("mlp") else "keras-tensorflow")] \
        if fast else peers


def commands(row, options, python):
    """{contender: command line}."""
    threads, run = str(options.threads), row.replace("resident_", "fit_")
    ours = {"ours": [options.program, "--row", run, "--threads", threads, "--serve"]}
    return ours | {p: [python, HERE / "peers.py", p, run, threads] for p in peers_of(row, options.fast)}


def measure_steps(row, options, python):
    """Everyone stays alive; rounds go round in turns."""
    everyone = [Contender(name, command) for name, command in commands(row, options, python).items()]
    for contender in everyone:
        contender.answer(READY_TIMEOUT_S)
    for _ in range(options.rounds):
        for contender in everyone:
            if contender.error is None:
                contender.round()
                time.sleep(0.02)  # let thread pools fall asleep before the next one's turn
    return everyone


def measure_starts(row, options, python):
    """A process of its own for each round, one after the other; files are in the page cache from the first on."""
    everyone = {}
    for i in range(options.rounds + 1):
        for name, command in commands(row, options, python).items():
            begin = time.monotonic()
            contender = Contender(name, command)
            answer = contender.answer(READY_TIMEOUT_S)
            seconds = time.monotonic() - begin
            contender.close()
            first = everyone.setdefault(name, contender)
            if answer is None:
                first.error = contender.error
            elif i > 0:
                first.values.append(seconds)
    return list(everyone.values())


def measure_resident(row, options, python):
    """Peak resident size in MiB after warm-up and a round of fit(), one process after the other (Linux)."""
    everyone = []
    for name, command in commands(row, options, python).items():
        contender = Contender(name, command)
        everyone.append(contender)
        if contender.answer(READY_TIMEOUT_S) is None:
            continue
        contender.round()
        if contender.error is None:
            status = pathlib.Path(f"/proc/{contender.process.pid}/status").read_text()
            contender.values = [int(status.partition("VmHWM:")[2].split()[0]) / 1024]
            contender.close()
    return everyone


@contextlib.contextmanager
def busy(cores):
    """Endless loops beside us, of the same priority."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measure(row, unit, options, python):
    how = measure_starts if row in START_ROWS else measure_resident if row in RESIDENT_ROWS else measure_steps
    with busy(options.busy):
        everyone = how(row, options, python)
    for contender in everyone:
        contender.close()
        if contender.error:
            print(f"  {row}: {contender.name} left out: {contender.error}", file=sys.stderr)
    ours, *peers = everyone
    if not ours.values:
        return None
    mine = statistics.median(ours.values)
    theirs = {c.name: statistics.median(c.values) for c in peers if c.values}
    ratio = min(theirs.values()) / mine if theirs else None
    return {"row": row, "unit": unit, "ours": round(mine, 5), "peers": {k: round(v, 5) for k, v in theirs.items()},
            "ratio": round(ratio, 3) if ratio else None} | ({"busy": options.busy} if options.busy else {})


def print_row(result):
    theirs = "  ".join(f"{name} {value:.4g}" for name, value in sorted(result["peers"].items(), key=lambda p: p[1]))
    ratio = f"{result['ratio']:.2f}x" if result["ratio"] else "-"
    print(f"{result['row']:<26}{result['ours']:>10.4g} {result['unit']:<3}{ratio:>8}   {theirs}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help="rows to run; all if none is named")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--fast", action="store_true", help="torch and the best Keras only")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep N cores busy meanwhile")
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "plimsoll_bench"))
    parser.add_argument("--out", default=str(HERE / "results.json"))
    options = parser.parse_args()
    units = dict(line.split() for line in subprocess.run(
        [options.program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines())
    units |= dict.fromkeys(START_ROWS, "s") | dict.fromkeys(RESIDENT_ROWS, "MiB")
    unknown = [row for row in options.rows if row not in units]
    if unknown:
        parser.error(f"no such row: {' '.join(unknown)}; there are {' '.join(units)}")
    python = peers_python()
    others = f", {options.busy} cores busy" if options.busy else ""
    print(f"{'row':<26}{'ours':>10} {'':<3}{'ratio':>8}   peers ({options.threads} threads{others}, medians of {options.rounds})")
    results = []
    for row in options.rows or units:
        result = measure(row, units[row], options, python)
        if result is None:
            continue
        print_row(result)
        results.append(result)
        pathlib.Path(options.out).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if len(results) == len(options.rows or units) else 1


if __name__ == "__main__":
    sys.exit(main())
