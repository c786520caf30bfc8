"""Runs examples and guides of keras.io, unmodified, on our backend and on JAX, and compares what they trained to.

    run.py CHECKOUT [--only WORD,...] [--backends plimsoll,jax] [--results FOLDER] [--table FILE]
           [--only-known] [--seconds N] [--record] [--bound]

CHECKOUT is a checkout of github.com/keras-team/keras-io. Data are synthetic and small, fit() is short (child.py), random numbers are the
same on both (portable_random.py). A result that is in FOLDER already is not computed again, nor one of JAX that is in jax_results.json,
where --record puts those of FOLDER. --bound runs those that are bound to TensorFlow, with Plimsoll's. --table writes a Markdown table.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE / "jax_results.json"

sys.path.insert(0, str(HERE))
from catalogue import BOUND_TO, all_examples  # noqa: E402


class Runner:
    """A process that has imported Keras with one backend, and forks for each example."""

    def __init__(self, backend, settings):
        ours = backend == "plimsoll-tensorflow"
        env = os.environ | {"KERAS_BACKEND": "plimsoll" if ours else backend, "EXAMPLES_TENSORFLOW": "ours" if ours else "real", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": "",
                            "MPLCONFIGDIR": str(settings),
                            "XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",
                            "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE), os.environ.get("PYTHONPATH", "")])}
        start = "import keras_plimsoll_bootstrap, runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"
        self.process = subprocess.Popen([sys.executable, "-c", start, str(HERE / "child.py")], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, source, needs, rows, result, seconds):
        task = {"source": str(source), "result": str(result), "needs": needs, "rows": rows, "seconds": seconds}
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not result.exists():
            status = json.loads(answer)["status"] if answer else "unknown"
            result.write_text(json.dumps({"error": f"ended with status {status}; see {result.with_suffix('.log')}", "seen": []}))
        return json.loads(result.read_text())


def flat(x, path=""):
    """(name, number) of all numbers in what a run wrote down."""
    if isinstance(x, dict):
        return [p for k, v in x.items() for p in flat(v, f"{path}/{k}")]
    if isinstance(x, list):
        return [p for i, v in enumerate(x) for p in flat(v, f"{path}/{i}")]
    return [] if x is None else [(path, x)]


def losses(run):
    return [(name, value) for name, value in flat(run["seen"]) if "loss" in name or "train_on_batch" in name or name.endswith("evaluate/0")]


def furthest(ours, theirs):
    """The largest difference of two runs' losses, relative to the loss or 1; None if they did not train the same number of times."""
    a, b = losses(ours), losses(theirs)
    if [n for n, _ in a] != [n for n, _ in b]:
        return None
    return max((abs(x - y) / max(1.0, abs(y)) for (_, x), (_, y) in zip(a, b)), default=0.0)


def last_loss(run):
    return f"{losses(run)[-1][1]:.4f}" if run and losses(run) else "-"


def compared(ours, theirs):
    if not theirs:
        return "not yet run on JAX"
    if bool(ours["error"]) != bool(theirs["error"]) or not losses(ours):
        return "-"
    far = furthest(ours, theirs)  # of two that stopped: until then
    return "not the same runs" if far is None else f"{far:.0e}"


def note(ours, theirs):
    error, other = ours["error"], theirs["error"] if theirs else None
    what = f"here and on JAX: {error}" if error and error == other else error or (f"on JAX: {other}" if other else "")
    return re.sub(r"\x1b\[\d*m|/[\w/.-]*/(examples|guides|keras|results/\w+)/", "", " ".join(what.replace("|", "/").split()))[:160]


def imports_tensorflow(source):
    return bool(re.search(r"^\s*(import|from) tensorflow", source.read_text(), re.MULTILINE))


def row(source, path, ours, theirs):
    """Cells of the table; `theirs` may be None."""
    ran, needs = "no" if ours["error"] else "yes", "yes" if imports_tensorflow(source) else "no"
    return [path.removesuffix(".py"), ran, needs, last_loss(ours), last_loss(theirs), compared(ours, theirs), note(ours, theirs)]


def write_table(file, rows, bound):
    ran = sum(cells[1] == "yes" for cells in rows)
    equal = sum(cells[5][:1].isdigit() and float(cells[5]) < 1e-3 for cells in rows)
    stopped = sum(cells[5][:1].isdigit() and float(cells[5]) < 1e-3 and cells[1] == "no" for cells in rows)
    numbers = {"RAN": ran, "TRIED": len(rows), "KNOWN": len(list(all_examples())), "EQUAL": equal, "STOPPED": stopped}
    text = (HERE / "table_head.md").read_text()
    for word, number in numbers.items():
        text = text.replace(word, str(number))
    text += "".join("| " + " | ".join(cells) + " |\n" for cells in sorted(rows))
    text += "\n## Bound to another framework\n\nThese call its own functions on the model's tensors (a gradient tape, its ops in a "
    text += "layer), by their source, and so run with its backend alone:\n\n"
    text += "".join(f"- {name}: {', '.join(paths)}\n" for name, paths in BOUND_TO.items())
    if bound:
        text += "\nOf those bound to TensorFlow, with Plimsoll's in its place (`plimsoll run`), on small data:\n\n| example | loss | what happened |\n|---|---|---|\n"
        text += "".join(f"| {path} | {last_loss(run)} | {note(run, None) or 'ran'} |\n" for path, run in sorted(bound.items()))
    file.write_text(text)


def known(args, backend, path):
    """What a run wrote down, now or before; None."""
    result = result_file(args, backend, path)
    if result.exists():
        return json.loads(result.read_text())
    return json.loads(RECORDED.read_text()).get(path) if backend == "jax" and RECORDED.exists() else None


def result_file(args, backend, path):
    return args.results / backend / (path.replace("/", "_") + ".json")


def run_bound(args):
    """{path: result} of the examples that are bound to TensorFlow."""
    runner, found = None, {}
    for path in BOUND_TO["TensorFlow"]:
        if not any(word in path for word in args.only.split(",")):
            continue
        result = result_file(args, "plimsoll-tensorflow", path + ".py")
        result.parent.mkdir(parents=True, exist_ok=True)
        if args.bound and not result.exists():
            runner = runner or Runner("plimsoll-tensorflow", args.results)
            runner.run(args.checkout / f"{path}.py", [], {}, result, args.seconds)
        if result.exists():
            found[path] = json.loads(result.read_text())
            print(f"{path:<70} {found[path]['error'] or 'ran'}", flush=True)
    return found


def record(args):
    kept = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for path, *_ in all_examples():
        if result_file(args, "jax", path).exists():
            kept[path] = json.loads(result_file(args, "jax", path).read_text())
    RECORDED.write_text(json.dumps(dict(sorted(kept.items())), indent=0) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--only", default="")
    parser.add_argument("--backends", default="plimsoll,jax")
    parser.add_argument("--results", type=lambda p: pathlib.Path(p).resolve(), default=HERE.parents[2] / "build" / "keras_examples")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--only-known", action="store_true", help="what is in FOLDER, without running anything")
    parser.add_argument("--seconds", type=int, default=600, help="of processor time, for each example")
    parser.add_argument("--record", action="store_true", help="keep FOLDER's results of JAX in jax_results.json")
    parser.add_argument("--bound", action="store_true", help="those that are bound to TensorFlow, with Plimsoll's tensorflow")
    args = parser.parse_args()
    rows, runners = [], {backend: None for backend in args.backends.split(",")}
    for path, kind, needed, count in () if args.bound else all_examples():
        if not any(word in path for word in args.only.split(",")):
            continue
        runs = {}
        for backend in runners:
            run = known(args, backend, path)
            if run is None and not args.only_known:
                result = result_file(args, backend, path)
                result.parent.mkdir(parents=True, exist_ok=True)
                runners[backend] = runners[backend] or Runner(backend, args.results)
                run = runners[backend].run(args.checkout / path, needed, count, result, args.seconds)
            if run is not None:
                runs[backend] = run
                print(f"{path:<70} {backend:<10} {run['error'] or 'ran'}", flush=True)
        if "plimsoll" in runs:
            rows.append(row(args.checkout / path, path, runs["plimsoll"], runs.get("jax")))
            print("   ", *rows[-1][1:6], flush=True)
    bound = run_bound(args)
    if args.record:
        record(args)
    if args.table:
        write_table(args.table, rows, bound)
    print(f"{sum(cells[1] == 'yes' for cells in rows)} of {len(rows)} ran")


if __name__ == "__main__":
    main()
