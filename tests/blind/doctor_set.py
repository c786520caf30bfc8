"""The runner of 2026_11 on the cases of a later set for the doctor: run.py build|prove|doctor|fix|list [case ...] [--json FILE] [--jobs N] [-v]"""
import importlib
import importlib.util
import os
import sys


def judge_one_that_ran(judge, case, diagnosis, *fix):
    """A doctor that did not start has said nothing: neither "missed" nor "silent"."""
    if diagnosis["status"] not in (0, 1, 2):
        return {"case": case.name, "kind": case.kind, "verdict": f"the doctor did not run: {diagnosis['status']}", "said": diagnosis["said"]}
    return judge(case, diagnosis, *fix)


def main(here, number, beside=()):
    """The cases of env<number>_*.py in the folder `here`, which may use modules of the sets `beside`."""
    os.environ.setdefault("BLIND_ROOT", f"/tmp/blind{number}")
    sys.path[:0] = [str(here), *(str(here.parent / name) for name in (*beside, "2026_11b", "2026_11"))]
    spec = importlib.util.spec_from_file_location("blind_runner", here.parent / "2026_11/run.py")
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    runner.lib.Case.prove.__defaults__ = (None, 900)  # the machine may be busy
    runner.lib.CASES.clear()  # those of the earlier set
    for path in sorted(here.glob(f"env{number}_*.py")):
        importlib.import_module(path.stem)
    for case in runner.lib.CASES.values():
        case.kind = case.kind.removeprefix(f"env{number}_")
    judge = runner.judge
    runner.judge = lambda *given: judge_one_that_ran(judge, *given)
    runner.main()
