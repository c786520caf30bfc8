"""Model files against what Keras said: check.py PROGRAM FOLDER [CASE ...]. Also saved again by the program, and read back by Keras 3."""

import json
import os
import re
import subprocess
import sys

import numpy as np

PLIMSOLL, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]


def run(folder, *args):
    done = subprocess.run([PLIMSOLL] + list(args), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=300)
    return done.returncode, done.stdout, done.stderr


def off(folder, got_file, want_file, tol):
    got, want = dict(np.load(os.path.join(folder, got_file))), dict(np.load(os.path.join(folder, want_file)))
    if len(got) != len(want):
        return "has %s, Keras %s" % (sorted(got), sorted(want))
    if set(got) != set(want):
        if len(want) > 1 and not all(re.fullmatch(r"out\d+", k) for k in want):
            return "has %s, Keras %s" % (sorted(got), sorted(want))
        got = dict(zip(want, got.values()))
    for k, w in want.items():
        g = got[k]
        if g.shape != w.shape:
            return "%s: shape %s, Keras %s" % (k, g.shape, w.shape)
        w, g = w.astype("complex128" if w.dtype.kind == "c" else "float64"), g.astype("complex128" if w.dtype.kind == "c" else "float64")
        bad = ~np.isclose(g, w, rtol=tol, atol=tol, equal_nan=True)
        if bad.any():
            return "%s: %s, Keras %s (%d of %d)" % (k, g[bad][0], w[bad][0], bad.sum(), bad.size)
    return None


def judge(folder):
    case = json.load(open(os.path.join(folder, "case.json")))
    file, do, tol = case["file"], case["do"], case.get("tol", 1e-4)
    if do == "program":
        return None, "run by programs/"
    if not all(k.isdigit() for k in case["y"]):
        case["y"].sort()  # as the outputs of a dict are
    batch = str(case.get("batch", 32))
    if do == "inspect":
        rc, out, err = run(folder, "inspect", file)
        return rc == 0 and bool(re.search(case["match"], out)), err.strip()
    if do == "refuse":
        rc, out, err = run(folder, "inspect", file)
        rc, out, err = run(folder, "convert", file, "again.keras")
        return rc == 1 and bool(re.search(case["match"], out + err)), (out + err).strip()
    if do == "train":
        rc, out, err = run(folder, "train", file, "--data", "xy.npz", "--x", *case["x"], "--y", *["target_" + k for k in case["y"]], "--batch", batch, "--epochs", str(case["epochs"]), "--no-shuffle", "--save", "trained.keras")
        if rc:
            return False, (out + err).strip()
        file = "trained.keras"
    rc, out, err = run(folder, "predict", file, "--data", "x.npz", *(["--x", *case["x"]] if len(case["x"]) > 0 else []), "--output", "got.npz", "--batch", batch)
    if rc:
        if case.get("or_refuse") and re.search(case["or_refuse"], out + err):
            return True, "refused: " + (out + err).strip()
        return False, (out + err).strip()
    wrong = off(folder, "got.npz", "want.npz", tol)
    if wrong:
        return False, wrong
    if case.get("says") and not re.search(case["says"], out + err):
        return False, "does not say /%s/: %s" % (case["says"], out + err)
    if do == "evaluate":
        rc, out, err = run(folder, "evaluate", file, "--data", "xy.npz", "--x", *case["x"], "--y", *["target_" + k for k in case["y"]], "--batch", batch, "--json")
        if rc:
            return False, (out + err).strip()
        got = json.loads(out.strip().splitlines()[-1])
        got = got.get("logs", got.get("results", got))
        for k, v in case["scores"].items():
            if v != v and k in got and got[k] is None:  # NaN in both
                continue
            if k not in got or got[k] is None or abs(got[k] - v) > 10 * tol * max(1, abs(v)):
                return False, "%s: %s, Keras %s (has %s)" % (k, got.get(k), v, sorted(got))
    rc, out, err = run(folder, "convert", file, "again.keras")
    return (True, "") if rc == 0 else (False, "convert: " + (out + err).strip())


BACK = r"""
import json, os, sys, numpy as np, keras
root, out = sys.argv[1], {}
for name in sys.argv[2:]:
    d = os.path.join(root, name); case = json.load(open(os.path.join(d, "case.json")))
    try:
        m = keras.models.load_model(os.path.join(d, "again.keras"))
        x = dict(np.load(os.path.join(d, "x.npz")))
        ins = [t.name for t in m.inputs]
        got = m.predict(x if set(ins) == set(x) else [x[k] for k in case["x"]], batch_size=case.get("batch", 32), verbose=0)
        got = got if isinstance(got, dict) else dict(enumerate(got if isinstance(got, (list, tuple)) else [got]))
        want = dict(np.load(os.path.join(d, "want.npz")))
        pairs = [(got[k], want[k]) for k in want] if set(got) == set(want) else list(zip(got.values(), want.values()))
        bad = [k for k, (g, w) in enumerate(pairs) if not np.allclose(np.asarray(g).astype(w.dtype), w, rtol=case.get("tol", 1e-4), atol=case.get("tol", 1e-4), equal_nan=True)]
        out[name] = "result %s differs" % bad if bad else ""
    except Exception as e:
        out[name] = "%s: %s" % (type(e).__name__, str(e)[:300])
print("RESULT" + json.dumps(out))
"""


def main():
    names = sys.argv[3:] or sorted(d for d in os.listdir(ROOT) if os.path.exists(os.path.join(ROOT, d, "case.json")))
    results, back = {}, []
    for name in names:
        for left in ("again.keras", "got.npz", "trained.keras"):
            if os.path.exists(os.path.join(ROOT, name, left)):
                os.remove(os.path.join(ROOT, name, left))
        try:
            ok, why = judge(os.path.join(ROOT, name))
        except Exception as e:
            ok, why = False, repr(e)
        if ok is None:
            continue
        results[name] = {"ok": bool(ok), "why": why}
        if ok and os.path.exists(os.path.join(ROOT, name, "again.keras")) and os.path.exists(os.path.join(ROOT, name, "want.npz")):
            back.append(name)
    if os.environ.get("KERAS"):
        done = subprocess.run([os.environ["KERAS"], "-c", BACK, ROOT] + back, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for name, why in json.loads(done.stdout.split("RESULT")[1]).items() if "RESULT" in done.stdout else {"all": done.stderr[-500:]}.items():
            if why:
                results.setdefault(name, {})["again"] = why
    for name, r in results.items():
        print("ok  " if r.get("ok") else "MISS", name, (r.get("why") or "")[:500], ("AGAIN " + r["again"]) if r.get("again") else "")
    ops = {n for n in results if n.startswith("ops_")}
    for title, part in (("files", set(results) - ops), ("operations", ops)):
        print(title, sum(results[n].get("ok", False) for n in part), "of", len(part), "; read back by Keras:", sum(results[n].get("ok", False) and "again" not in results[n] for n in part))
    json.dump(results, open(os.environ.get("SCORES", "/tmp/files_scores.json"), "w"), indent=1)


main()
