"""The doctor on environments broken on purpose, each of which must be named right, and on healthy ones (nothing above a
note). `python test_doctor.py [NAME ...]` prints the score."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import broken  # noqa: E402
import broken_blind  # noqa: E402,F401
import broken_blind_b  # noqa: E402,F401
import broken_blind_c  # noqa: E402,F401
import broken_blind_d  # noqa: E402,F401
import broken_blind_e  # noqa: E402,F401
import broken_blind_f  # noqa: E402,F401
import broken_calls  # noqa: E402,F401
import broken_debian  # noqa: E402,F401
import broken_files  # noqa: E402,F401  (they add to broken.CASES)
import broken_imports  # noqa: E402,F401
import broken_paths  # noqa: E402,F401
import broken_settings  # noqa: E402,F401
import healthy  # noqa: E402
import healthy_paths  # noqa: E402,F401
import maker  # noqa: E402


def above_note(diagnosis):
    return [f for f in diagnosis["findings"] if f["severity"] != "note"]


def shown(findings):
    return [(f["id"], f["what"]) for f in findings[:4]]


def judge_broken(case, folder, program):
    """None if the doctor named it right, else what it said."""
    name, breaks, check, word, also = case
    env = maker.Environment(folder)
    breaks(env)
    status, diagnosis = env.examine(program)
    found = above_note(diagnosis)
    right = [f for f in found if f["id"] == check and word in f["what"] and f["leads_to"] and f["fix"]]
    stray = [f for f in found if f["id"] != check and f["id"] not in also]
    if right and not stray and status > 0:
        return None
    return f"{name}: expected {check} ({word}), got {shown(found)}"


def judge_healthy(case, folder, program):
    name, makes = case
    env = maker.Environment(folder)
    makes(env)
    status, diagnosis = env.examine(program)
    found = above_note(diagnosis)
    return f"{name}: {shown(found)}" if found or status else None


@pytest.mark.parametrize("case", broken.CASES, ids=lambda case: case[0])
def test_a_broken_environment_is_named_right(case, tmp_path, program):
    assert judge_broken(case, tmp_path / "env", program) is None


@pytest.mark.parametrize("case", broken_calls.PROGRAMS, ids=lambda case: case[0])
def test_the_calls_judged_fail_or_work_in_python(case, tmp_path):
    name, fails, text = case
    for path, source in broken_calls.KITCHEN.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(source)
    (tmp_path / "cook.py").write_text(text)
    ran = subprocess.run([sys.executable, "cook.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ("TypeError" in ran.stderr or "ValueError" in ran.stderr) == fails, ran.stderr
    assert fails or ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("case", healthy.CASES, ids=lambda case: case[0])
def test_a_healthy_environment_has_nothing_above_a_note(case, tmp_path, program):
    assert judge_healthy(case, tmp_path / "env", program) is None


def test_a_requirement_that_is_only_tried_is_a_warning(tmp_path, program):
    for source, severity in (("try:\n    import one_reader\nexcept ImportError:\n    one_reader = None\n", "warning"), ("import one_reader\n", "error")):
        env = maker.Environment(tmp_path / severity)
        env.package("web", files={"web/__init__.py": source}, requires=["one-reader"])
        found = [f for f in env.examine(program)[1]["findings"] if f["id"] == "requirements"]
        assert [f["severity"] for f in found] == [severity], found


def test_text_says_what_seen_leads_to_and_fix(tmp_path, program):
    env = maker.Environment(tmp_path / "one")
    broken.version_conflict(env)
    env.examine(program)
    text = subprocess.run([program, "doctor", "--env", env.prefix, "--system", env.root / "system.json"],
                          capture_output=True, text=True).stdout
    for part in ("error: model-tools 1.0 requires fastlib <2, but 2.1 is installed", "seen", "leads to", "pip install"):
        assert part in text


def test_a_place_without_python_is_not_examined(tmp_path, program):
    for place in (tmp_path, tmp_path / "nowhere"):
        done = subprocess.run([program, "doctor", "--env", place], capture_output=True, text=True)
        assert done.returncode == 3 and "[doctor]" in done.stderr and not done.stdout


def test_import_reports_the_signal_that_killed_it(tmp_path, program):
    env = maker.Environment(tmp_path / "one")
    env.package("numpy", "2.1.0", {"numpy/__init__.py": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"})
    env.package("h5py", "3.1", {"h5py/__init__.py": "raise ImportError('HDF5 is not here')\n"})
    env.package("scipy", "1.15", {"scipy/__init__.py": "x = 1\n"})
    env.arguments = ["--import"]
    status, diagnosis = env.examine(program)
    said = {f["what"]: f for f in diagnosis["findings"] if f["id"] == "imports"}
    assert status == 2
    assert any("import numpy kills the process" in what for what in said)
    assert "HDF5 is not here" in said["import h5py fails"]["evidence"][0]
    assert any("imported well" in what for what in said)


def test_post_mortem_names_the_package_it_died_in(tmp_path, program):
    env = maker.Environment(tmp_path / "one")
    broken.native_package(env)
    library = env.site / f"fastlib/_core{maker.SUFFIX}"
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"format": 1, "cause": "segfault", "certain": True, "title": "a segmentation fault",
                                  "evidence": ["address 0x0"], "advice": ["look"], "faults": [{"signal": 11, "module": str(library)}]}))
    env.arguments = ["--post-mortem", str(report)]
    status, diagnosis = env.examine(program)
    found = [f for f in diagnosis["findings"] if f["id"] == "post_mortem"]
    assert status == 2 and "segfault" in found[0]["what"]
    assert any("fastlib 1.0" in line for line in found[0]["evidence"])


def main():
    program = os.environ.get("PLIMSOLL", str(Path(__file__).parents[3] / "build/bin/plimsoll"))
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("PLIMSOLL_DOCTOR_CACHE", folder)
        for title, cases, judge in (("broken", broken.CASES, judge_broken), ("healthy", healthy.CASES, judge_healthy)):
            cases = [c for c in cases if not wanted or c[0] in wanted]
            wrong = [w for c in cases if (w := judge(c, Path(folder) / title / c[0], program))]
            print("\n".join(wrong))
            print(f"{title}: {len(cases) - len(wrong)} of {len(cases)} right")


if __name__ == "__main__":
    main()
