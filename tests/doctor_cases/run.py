"""Scores `plimsoll doctor` on environments it was not written for.

    python tests/doctor_cases/run.py --plimsoll build/bin/plimsoll [--only WORDS] [--prove] [--fixes]

Makes each environment (from PyPI, kept in --cache), asks the doctor, and compares. --prove first shows that the broken ones
fail and the healthy ones work by really importing; --fixes applies every fix the doctor printed and imports again. Of the
fixes only commands that safe_fix.py knows are run, and only on files of the case.
Needs network, h5py and a C compiler.
"""

import argparse
import collections
import json
import os
import re
import shlex
import shutil
import sys
import time

import cases
import safe_fix
import damage, healthy, models, paths, settings, versions  # noqa: E401, F401  they fill cases.CASES
from envs import Env, Tools

Row = collections.namedtuple("Row", "case verdict fix seconds processor findings detail")


def ask(plimsoll, env):
    """What the doctor says: (status, findings, seconds, processor seconds)."""
    question = [plimsoll, "doctor", "--json", "--env", env.asked or env.prefix, *env.args]
    if getattr(env, "readings", None):
        question += ["--system", other_machine(plimsoll, env)]
    started, before = time.monotonic(), os.times()
    done = env.run(question, timeout=120)
    seconds, after = time.monotonic() - started, os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    try:
        findings = json.loads(done.stdout)["findings"]
    except (ValueError, KeyError):  # it could not examine the environment, and says why
        findings = [{"severity": "error", "what": done.stdout + done.stderr, "fix": ""}]
    return done.returncode, [f for f in findings if f["severity"] != "note"], seconds, processor


def other_machine(plimsoll, env):
    here = json.loads(env.run([plimsoll, "doctor", "--json", "--env", env.prefix]).stdout)
    here["system"].update(env.readings)
    here["system"]["environment"] = {"HOME": str(env.home), "PATH": "/usr/bin:/bin"}
    return env.write(env.root / "other_machine.json", json.dumps(here))


def text_of(finding):
    return " ".join([finding["what"], *finding.get("evidence", []), finding.get("leads_to", ""), finding.get("fix", "")])


def named(case, findings):
    return [f for f in findings if all(re.search(n, text_of(f), re.I) for n in case.names)]


def apply_fixes(env, case, findings):
    """Runs the printed fixes in order in one shell, then the proof in that shell; what came of it."""
    fixes = list(dict.fromkeys(f["fix"] for f in findings if f.get("fix")))
    if not fixes:
        return "none printed", ""
    refused = {f: safe_fix.refusal(f, env.root, env.cwd) for f in fixes}
    commands = [f for f in fixes if not refused[f]]
    if not commands:
        return "not tried", " ; ".join(f"{f}: {why}" for f, why in refused.items())
    shell = "\n".join([*commands, "env -0 > " + shlex.quote(str(env.root / "after.env"))])
    done = env.run(["bash", "-c", shell], timeout=900)
    keep_shell_variables(env)
    worked, words = env.prove(case.proof)
    return ("works" if worked else "wrong"), f"{words} | {' ; '.join(fixes)} | {done.stderr.strip()[-300:]}"


def keep_shell_variables(env):
    """A fix such as `unset PYTHONPATH` lives on in the user's shell."""
    path = env.root / "after.env"
    if path.exists():
        after = dict(line.split("=", 1) for line in path.read_text().split("\0") if "=" in line)
        env.environ = {k: after[k] for k in env.environ if k in after}


def judge(case, status, findings):
    if status not in (0, 1, 2, 3):
        return "crashed"
    if case.healthy:
        return "false alarm" if findings else "right"
    return "right" if named(case, findings) else "missed"


def run_case(args, tools, case):
    # always the same folder: what Python compiled for one case serves the next
    env = Env(tools, os.path.join(args.cache, re.sub(r"\W+", "_", case.name) if args.keep else "case" + args.part))
    try:
        case.make(env)
        if args.prove and case.proof:
            worked, words = env.prove(case.proof)
            if worked != case.healthy:
                return Row(case, "not proved", "", 0, 0, 0, words)
        status, findings, seconds, processor = ask(args.plimsoll, env)
        verdict = judge(case, status, findings)
        fix, detail = "", "; ".join(f["what"][:150].strip() for f in findings[:4])
        if args.fixes and case.fix and verdict == "right":
            fix, tried = apply_fixes(env, case, findings)
            if fix == "works" and ask(args.plimsoll, env)[1]:
                fix = "not quiet"
            detail += f" || {tried}" if fix != "works" else ""
        return Row(case, verdict, fix, seconds, processor, len(findings), detail)
    except Exception as e:  # an environment that cannot be made is a result too
        return Row(case, "not made", "", 0, 0, 0, f"{type(e).__name__}: {e}"[:600])
    finally:
        if not args.keep:
            shutil.rmtree(env.root, ignore_errors=True)


def print_row(row, verbose):
    kind = "healthy" if row.case.healthy else "real" if row.case.real else "laid out"
    detail = row.detail if verbose or row.verdict != "right" or row.fix in ("wrong", "not quiet") else ""
    print(
        f"{row.case.name:52} {kind:8} {row.verdict:11} {row.fix:12} {row.findings:2} found {row.seconds:5.2f} s ({row.processor:.2f})  {detail}",
        flush=True,
    )


def print_score(rows):
    sick, well = [r for r in rows if not r.case.healthy], [r for r in rows if r.case.healthy]
    count = lambda some, verdict: sum(r.verdict == verdict for r in some)
    print(
        f"\nbroken: {count(sick, 'right')} of {len(sick)} named right, {count(sick, 'missed')} missed, {count(sick, 'crashed')} crashed"
        f" (real wheels: {count([r for r in sick if r.case.real], 'right')} of {sum(r.case.real for r in sick)})"
    )
    print(f"healthy: {count(well, 'right')} of {len(well)} left alone, {count(well, 'false alarm')} false alarms")
    fixes = collections.Counter(r.fix for r in rows if r.fix)
    print("fixes: " + (", ".join(f"{n} {what}" for what, n in fixes.items()) or "not tried"))
    for bad in ("not made", "not proved"):
        if count(rows, bad):
            print(f"{bad}: {', '.join(r.case.name for r in rows if r.verdict == bad)}")
    times = sorted(r.seconds for r in rows)
    print(f"seconds: median {times[len(times) // 2]:.2f}, longest {times[-1]:.2f}; processor: longest {max(r.processor for r in rows):.2f}")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plimsoll", required=True, type=os.path.abspath)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--part", default="", help="cases of one file: damage, healthy, models, paths, settings or versions")
    parser.add_argument("--cache", default=os.path.join(here, "../../build/doctor_cases"), type=os.path.abspath)
    parser.add_argument("--prove", action="store_true", help="import first: the broken must fail, the healthy work")
    parser.add_argument("--fixes", action="store_true", help="apply the printed fixes and import again")
    parser.add_argument("--keep", action="store_true", help="leave each environment in CACHE, under its name")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    tools = Tools(args.cache)
    tools.prepare()
    rows = []
    for case in cases.CASES.values():
        if args.only.lower() in case.name.lower() and args.part in case.make.__module__:
            rows.append(run_case(args, tools, case))
            print_row(rows[-1], args.verbose)
    print_score(rows)
    return 0 if all(r.verdict == "right" and r.fix in ("", "works", "not tried") for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
