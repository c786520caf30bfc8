"""Makes the cases, proves them, asks the doctor, tries the fix that it prints, and keeps all of it in $DOCTOR_CASES/results/.

    DOCTOR_CASES=/tmp/cases python run.py make [NAME ...]     make and prove those that are not yet
    DOCTOR_CASES=/tmp/cases python run.py doctor PLIMSOLL [NAME ...]
    DOCTOR_CASES=/tmp/cases python run.py fix PLIMSOLL [NAME ...]      applies the first finding's fix, then probe and doctor again
    DOCTOR_CASES=/tmp/cases python run.py score
"""

import json
import os
import pickle
import re
import subprocess
import sys
import time

import kit
import pairs, damage, settings, mac, healthy  # noqa: E401, F401

RESULTS = kit.ROOT / "results"


def execute(env, command, limit=400, shell_first=""):
    user = getattr(env, "user", None)
    before, started = os.times(), time.time()
    try:
        done = subprocess.run(command, cwd=env.cwd, env=env.environment(), capture_output=True, text=True, errors="replace", timeout=limit,
                              stdin=subprocess.DEVNULL, user=user)
        code, out = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        code, out = 124, "timeout"
    except OSError as error:
        code, out = 126, str(error)
    after = os.times()
    return code, out, after.children_user + after.children_system - before.children_user - before.children_system, time.time() - started


def make(case):
    result = {"made": case.made, "broken": case.broken}
    try:
        env = case.make(kit.ROOT / "envs" / case.name)
    except Exception as error:
        return result | {"proved": f"NOT MADE: {error}"[:2000]}
    with open(kit.ROOT / "envs" / f"{case.name}.pickle", "wb") as file:
        pickle.dump(env, file)
    if not case.proved:
        return result | {"proved": "no: another system"}
    code, out, _, _ = execute(env, env.command())
    failed = code != 0 or bool(case.broken and re.search(case.error, out))
    right = failed == case.broken and (not case.broken or re.search(case.error, out))
    return result | {"proved": "yes" if right else "NO", "exit": code, "error": out.strip()[-600:]}


def load(name):
    with open(kit.ROOT / "envs" / f"{name}.pickle", "rb") as file:
        return pickle.load(file)


def ask(env, program):
    command = [program, "doctor", "--env", str(env.path), *env.arguments]
    code, text, cpu, wall = execute(env, command)
    _, data, _, _ = execute(env, [*command, "--json"])
    return {"exit": code, "text": text, "json": data, "cpu": round(cpu, 2), "wall": round(wall, 2)}


def findings(answer):
    """The blocks of the report, as the user reads them."""
    blocks = re.split(r"\n(?=(?:error|warning|note)[: ])", "\n" + answer["text"])
    return [b.strip() for b in blocks if re.match(r"\s*(error|warning)", b)]


def judge(case, answer):
    found = findings(answer)
    if not case.broken:
        return "left alone" if not found else "FALSE ALARM"
    if not found:
        return "missed"
    return "named" if all(re.search(w, found[0], re.I) for w in case.words) else "other words"


def repair(env, program, answer):
    """As a user would: the first finding's fix, then the doctor again, four times at most."""
    env.variables["PATH"] = f"{env.bin}:{os.path.dirname(kit.UV)}:{kit.interpreter('3.11').parent}:/usr/local/bin:/usr/bin:/bin"
    env.variables["PIP_CACHE_DIR"] = str(kit.ROOT / "pip")
    steps = []
    while findings(answer) and len(steps) < 4:
        lines = re.findall(r"^\s+fix\s+(.*)$", findings(answer)[0], re.M)
        if not lines or any(lines[0] == done["fix"] for done in steps):
            break
        if found := re.match(r"unset (\w+)", lines[0]):
            env.variables.pop(found[1], None)
            code, out = 0, ""
        else:
            code, out, _, _ = execute(env, ["bash", "-c", lines[0]], 560)
        answer = ask(env, program)
        steps.append({"fix": lines[0], "exit": code, "said": out[-500:], "doctor_after": answer["text"][:1500]})
    probe, said, _, _ = execute(env, env.command())
    clean = not findings(answer)
    return {"steps": steps, "probe": probe, "probe_said": said[-400:], "clean": clean,
            "worked": "yes" if probe == 0 and clean else "import works, doctor not content" if probe == 0 else "NO" if steps else "no command"}


def main():
    RESULTS.mkdir(parents=True, exist_ok=True)
    (kit.ROOT / "envs").mkdir(exist_ok=True)
    verb, rest = sys.argv[1], sys.argv[2:]
    program = rest.pop(0) if verb in ("doctor", "fix") else None
    for name in rest or kit.CASES:
        case, kept = kit.CASES[name], RESULTS / f"{name}.json"
        result = json.loads(kept.read_text()) if kept.exists() else {}
        if verb == "make" and result.get("proved", "N")[0] != "N":
            continue
        if verb == "make":
            result = make(case)
            print(name, result["proved"], "" if result["proved"] == "yes" else result.get("error", "")[-300:], flush=True)
        elif verb == "doctor":
            result["first"] = ask(load(name), program)
            result["verdict"] = judge(case, result["first"])
            print(name, result["verdict"], result["first"]["cpu"], flush=True)
        elif verb == "fix" and case.broken and "first" in result:
            result["repair"] = repair(load(name), program, result["first"])
            print(name, result["repair"]["worked"], [s["fix"][-80:] for s in result["repair"]["steps"]], flush=True)
        elif verb == "score":
            print(f"{name:52} {result.get('proved', '')[:10]:10} {result.get('verdict', '')}")
        kept.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
