"""ipykernel's own tests that start a kernel, with and without the guard: test by test the same outcome?

python bench/guard_ipykernel_suite.py [--sdist ipykernel-7.4.0.tar.gz] [--files test_kernel.py ...]

Needs, beside ipykernel: pytest pytest-asyncio pytest-cov pytest-timeout psutil flaky (and matplotlib and trio for the tests that use
them). Without --sdist the sources of the ipykernel installed here are fetched from PyPI. Some of the tests are races between
threads of the kernel: those that differ are run up to eight times more, and differ only if an outcome is never seen the other way.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUARD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build")) / "bin" / "plimsoll-guard"
FILES = ["test_async.py", "test_connect.py", "test_debugger.py", "test_eventloop.py", "test_kernel.py", "test_kernelapp.py",
         "test_matplotlib_eventloops.py", "test_message_spec.py", "test_subshells.py"]


def fetch(folder):
    """The sources of the ipykernel that is installed; only these have the tests."""
    version = importlib.metadata.version("ipykernel")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "ipykernel", "-d", str(folder),
               f"ipykernel=={version}"]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f"SKIPPED: the sources of ipykernel {version} cannot be had from PyPI; give them by --sdist")
    return next(pathlib.Path(folder).glob("ipykernel-*.tar.gz"))


def write_spec(data, guarded):
    """Jupyter's default kernel; a spec of that name comes before the one that ipykernel makes up."""
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    if guarded:
        argv = [str(GUARD), "-f", "{connection_file}", "--name", "python3", "--language", "python", "--", *argv]
    spec = {"argv": argv, "display_name": "Python 3", "language": "python",
            "metadata": {"debugger": True, "supported_encryption": ["curve"]}}
    folder = data / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec))


def outcomes(sources, tests, guarded, home):
    """Name of each test -> passed, failed, error or skipped, with the text of a failure."""
    home.mkdir()
    write_spec(home / "data", guarded)
    environment = {**os.environ, "JUPYTER_DATA_DIR": str(home / "data"), "JUPYTER_CONFIG_DIR": str(home / "config"),
                   "JUPYTER_RUNTIME_DIR": str(home / "runtime"), "IPYTHONDIR": str(home / "ipython"),
                   "XDG_STATE_HOME": str(home / "state")}
    (home / "runtime").mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "timeout=120", "-W", "default",
               "-o", "asyncio_default_fixture_loop_scope=function", "-o", "log_cli=false",
               f"--junitxml={home / 'results.xml'}", *tests]
    done = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True, check=False)
    if not (home / "results.xml").exists():
        sys.exit(f"pytest did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    results = {}
    for case in xml.etree.ElementTree.parse(home / "results.xml").iter("testcase"):
        word = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        kind = "passed" if word is None else {"failure": "failed"}.get(word.tag, word.tag)
        results[f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"] = (kind, "" if word is None else word.get("message", ""))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sdist", type=pathlib.Path)
    parser.add_argument("--files", nargs="+", default=FILES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sdist = options.sdist or fetch(folder)
        with tarfile.open(sdist) as archive:
            archive.extractall(folder / "sources")
        sources = next((folder / "sources").iterdir())
        # The tests are taken from there, the package from where it is installed.
        (sources / "ipykernel").rename(sources / "ipykernel-not-this-one")
        tests = [f"tests/{name}" for name in options.files]
        plain = outcomes(sources, tests, False, folder / "plain")
        guarded = outcomes(sources, tests, True, folder / "guarded")
        differ = [t for t in sorted(plain.keys() | guarded.keys())
                  if plain.get(t, ("absent",))[0] != guarded.get(t, ("absent",))[0]]
        seen = {(t, way): {results.get(t, ("absent",))[0]} for t in differ for way, results in enumerate((plain, guarded))}
        for again in range(8):
            differ = [t for t in differ if seen[t, 0].isdisjoint(seen[t, 1])]
            for way in (0, 1) if differ else ():
                for test, (kind, _) in outcomes(sources, differ, way == 1, folder / f"again-{again}-{way}").items():
                    seen[test, way].add(kind)
        differ = [t for t in differ if seen[t, 0].isdisjoint(seen[t, 1])]
    counts = lambda results: {k: sum(r[0] == k for r in results.values()) for k in ("passed", "failed", "error", "skipped")}
    print("without the guard:", counts(plain))
    print("through the guard:", counts(guarded))
    for test in sorted({t for t, _ in seen}.difference(differ)):
        print(f"now this, now that, either way: {test}")
    for test in (t for t in sorted(plain) if plain[t][0] in ("failed", "error") and plain[t][0] == guarded.get(t, ("absent",))[0]):
        print(f"fails either way: {test}: {plain[test][1].splitlines()[0] if plain[test][1] else ''}")
    for test in differ:
        print(f"DIFFERS {test}: {plain.get(test)} without, {guarded.get(test)} with the guard")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
