#!/usr/bin/env python3
"""run.py build|prove|doctor|fix|all [case ...] [--json FILE] [--jobs N]     (see README.md)"""
import argparse, concurrent.futures, json, os, pathlib, re, shutil, subprocess, sys, tempfile
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import lib
import env_versions, env_native, env_installs, env_paths, env_jupyter, env_settings, env_files, env_healthy  # noqa: F401

PLIMSOLL = os.environ.get("PLIMSOLL", "plimsoll")
RANK = {"note": 0, "warning": 1, "error": 2}


def doctor(c):
    argv = [*map(c.fill, c.wrap), PLIMSOLL, "doctor", "--env", str(c.dir), "--json"] + ([c.fill(c.target)] if c.target else [])
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen(argv, cwd=c.work, env=c.environ(), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        text, complaint = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    try:
        found = json.loads(text)["findings"]
    except (ValueError, KeyError):
        found = []
    return {"status": p.returncode, "cpu_s": round(used.ru_utime + used.ru_stime, 2), "findings": found, "said": "" if found else (text[-800:] + complaint[-1500:])}


def words(c, f):
    return "\n".join([f["what"], f.get("leads_to") or "", *f.get("evidence", [])]).replace(str(c.root), "~")   # the name of the case is no evidence


def errors(d):
    return [f for f in d["findings"] if f["severity"] == "error"]


def apply_fix(c, findings):
    """Runs the fixes in order on the environment itself; the broken one is put back afterwards."""
    keep = c.root.with_name(c.root.name + ".keep")
    shutil.rmtree(keep, ignore_errors=True)
    subprocess.run(["cp", "-al", c.root, keep], check=True)
    log = []
    try:
        for fix in dict.fromkeys(f["fix"] for f in findings if f.get("fix")):
            try:
                r = subprocess.run(["bash", "-c", fix], cwd=c.work, env=c.environ(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400)
                log.append({"command": fix, "status": r.returncode, "said": (r.stdout + r.stderr)[-600:]})
            except subprocess.TimeoutExpired:
                log.append({"command": fix, "status": None, "said": "timeout"})
        failed, said = c.prove(c.after)
        again = doctor(c)
        return {"commands": log, "import_works": not failed, "import_said": said[-400:], "errors_after": [f["what"] for f in errors(again)],
                "works": not failed and not errors(again)}
    finally:
        shutil.rmtree(c.root)
        keep.rename(c.root)


def judge(c, d, fix=False):
    out = {"case": c.name, "kind": c.kind, "real": c.real, "cpu_s": d["cpu_s"], "status": d["status"], "findings": d["findings"], "said": d["said"]}
    if c.healthy:
        return out | {"verdict": "false alarm" if errors(d) else "silent"}
    named = [f for f in d["findings"] if RANK.get(f["severity"], 0) >= RANK[c.level] and re.search(c.cause, words(c, f), re.I | re.S)]
    if not named:
        return out | {"verdict": "missed"}
    out["named_by"] = [f["id"] for f in named]
    if c.apply:
        if not fix:
            return out | {"verdict": "named"}
        out["fix"] = apply_fix(c, named + [f for f in errors(d) if f not in named])
        return out | {"verdict": "right" if out["fix"]["works"] else "named with wrong fix"}
    ok = any(re.search(c.fix_text, (f.get("fix") or "").replace(str(c.root), "~"), re.I | re.S) for f in named)
    return out | {"verdict": "right" if ok else "named with wrong fix"}


def one(what, c, do_fix):
    try:
        if what == "build":
            c.make()
        if what in ("build", "prove"):
            failed, said = c.prove()
            good = not failed if c.healthy else failed and re.search(c.error, said, re.S) is not None
            return {"case": c.name, "kind": c.kind, "verdict": "proved" if good else "NOT PROVED", "said": said[-1200:]}
        return judge(c, doctor(c), do_fix)
    except Exception as e:
        return {"case": c.name, "kind": c.kind, "verdict": f"trouble: {type(e).__name__}: {e}"[:1500]}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["build", "prove", "doctor", "fix", "list"])
    p.add_argument("cases", nargs="*")
    p.add_argument("--json")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("-v", action="store_true")
    a = p.parse_intermixed_args()
    chosen = [c for n, c in lib.CASES.items() if not a.cases or n in a.cases or c.kind in a.cases]
    if a.what == "list":
        for c in chosen:
            print(c.name, c.kind, "real" if c.real else "made", c.url)
        return
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        rows = []
        for row in pool.map(lambda c: one(a.what, c, a.what == "fix"), chosen):
            rows.append(row)
            print(f"{row['case']:34} {row['kind']:9} {row['verdict']:22} {row.get('cpu_s') or '':>5} {','.join(row.get('named_by', []))}", flush=True)
            if a.v or "NOT" in row["verdict"]:
                print("    " + json.dumps(row, indent=1).replace("\n", "\n    ") if a.what in ("doctor", "fix") else "    " + row.get("said", "")[-700:].replace("\n", "\n    "))
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
