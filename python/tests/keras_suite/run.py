"""Runs Keras's own suite on our backend, stage by stage, and prints what passed, failed and was skipped in each folder.

    run.py [--stages 0,1,3] [--jobs 2] [--update]

counts.json has how many passed in each stage when it was committed: fewer is an error, --update writes more down. With several jobs as
many processes share the tests of a stage.
"""
import argparse
import collections
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
COUNTS = HERE / "counts.json"
OUTCOMES = ("passed", "failed", "skipped", "not collected")
QUICK_COMPILER = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"  # JAX is the oracle of many tests

sys.path.insert(0, str(HERE))
from stages import STAGES  # noqa: E402


def keras_sources():
    """Where Keras is, without importing it."""
    return pathlib.Path(importlib.util.find_spec("keras").submodule_search_locations[0]) / "src"


def run_stage(paths, sources, log, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        logs = [log.with_suffix(f".{i}.log") if jobs > 1 else log for i in range(jobs)]
        shares = list(pool.map(lambda i: run_share(paths, sources, logs[i], i, jobs), range(jobs)))
    folders, failed = collections.defaultdict(collections.Counter), []
    for share in shares:
        failed += share["failed"]
        for folder, counts in share["folders"].items():
            folders[folder].update(counts)
    return {"folders": folders, "failed": failed}


def run_share(paths, sources, log, share, of):
    wanted = [str(sources / p) for p in paths if not p.startswith("!") and (sources / p.split("::")[0]).exists()]
    left_out = [f"not {p[1:]}" for p in paths if p.startswith("!")]
    with tempfile.TemporaryDirectory() as folder:
        counts = pathlib.Path(folder) / "counts.json"
        env = os.environ | {"KERAS_BACKEND": "plimsoll", "KERAS_SUITE_COUNTS": str(counts), "KERAS_SUITE_SHARE": f"{share}/{of}",
                            "TF_CPP_MIN_LOG_LEVEL": "3", "XLA_FLAGS": QUICK_COMPILER,
                            "PYTHONPATH": os.pathsep.join([str(HERE.parent.parent), str(HERE), os.environ.get("PYTHONPATH", "")])}
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "keras_plimsoll_bootstrap", "-p", "keras_suite_plugin",
                   "-p", "no:cacheprovider", "--rootdir", str(sources.parent.parent), "-W", "ignore", "-o", "addopts=",
                   "--continue-on-collection-errors", *wanted]
        command += ["-k", " and ".join(left_out)] if left_out else []
        with open(log, "w") as output:
            code = subprocess.run(command, env=env, stdout=output, stderr=subprocess.STDOUT, cwd=folder).returncode
        if not counts.exists():
            sys.exit(f"pytest did not end as it should (exit status {code}); its output is in {log}")
        return json.loads(counts.read_text())


def show(stage, result):
    total = dict.fromkeys(OUTCOMES, 0)
    for folder, counts in sorted(result["folders"].items()):
        print(f"  {stage:<5} {folder:<34}" + "".join(f"{counts.get(o, 0):>14}" for o in OUTCOMES))
        for outcome in OUTCOMES:
            total[outcome] += counts.get(outcome, 0)
    print(f"stage {stage:<35}" + "".join(f"{total[o]:>14}" for o in OUTCOMES), flush=True)
    return total["passed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stages", default=",".join(map(str, STAGES)))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    known, fewer = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}, []
    logs = pathlib.Path(os.environ.get("KERAS_SUITE_LOGS", HERE.parents[2] / "build" / "keras_suite"))
    logs.mkdir(parents=True, exist_ok=True)
    print(" " * 42 + "".join(f"{o:>14}" for o in OUTCOMES))
    for stage in map(int, args.stages.split(",")):
        log = logs / f"stage{stage}.log"
        result = run_stage(STAGES[stage], keras_sources(), log, args.jobs)
        (logs / f"stage{stage}.failed.txt").write_text("\n".join(result["failed"]) + "\n")
        passed, least = show(stage, result), known.get(str(stage), 0)
        if passed < least:
            fewer.append(f"stage {stage}: {passed} passed, {least} did before; see {log}")
        known[str(stage)] = max(passed, least)
    if args.update:
        COUNTS.write_text(json.dumps(dict(sorted(known.items(), key=lambda pair: int(pair[0]))), indent=1) + "\n")
    sys.exit("\n".join(fewer) or 0)


if __name__ == "__main__":
    main()
