"""A program in a guarded kernel sees what it would see in a plain one. What differs on purpose is in docs/guard.md."""
import json
import os
import signal
import sys

import pytest
from same import HEAD, PROBES


@pytest.fixture(scope="module")
def both(folders):
    """Runs code in a plain and in a guarded kernel: what each printed, or the error."""
    from guarded import Kernel

    spec = folders / "data" / "kernels" / "bare" / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "bare", "language": "python"}))
    # Under pytest ipykernel leaves its descriptors alone.
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    kernels = [Kernel(name, env=environment) for name in ("bare", "guarded")]

    def run(code):
        told = []
        for kernel in kernels:
            outputs = kernel.run(HEAD + code)["outputs"]
            told.append("".join(o["content"].get("text", "") + o["content"].get("evalue", "") for o in outputs))
        return told

    yield run
    for kernel in kernels:
        kernel.close()


@pytest.mark.parametrize("name", PROBES)
def test_it_prints_the_same(name, both):
    plain, guarded = both(PROBES[name])
    assert plain and guarded == plain


def test_children_are_under_the_line_and_have_nothing_else_of_the_guards(both):
    plain, guarded = both("print('\\n'.join(subprocess.run(['env'], capture_output=True, text=True).stdout.splitlines()))")
    names = lambda text: {line.split("=")[0] for line in text.splitlines()}
    assert names(guarded) - names(plain) == {"LD_PRELOAD", "PLIMSOLL_GATE"} and names(plain) <= names(guarded)


def test_what_nohup_ignores_stays_ignored(folders):
    from guarded import Kernel

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        kernel = Kernel()
    finally:
        signal.signal(signal.SIGHUP, before)
    try:
        os.kill(kernel.pid, signal.SIGHUP)  # the terminal is gone: the guard lives on, and its kernel
        assert "ignored" in kernel.text("import os, signal\nos.kill(os.getpid(), signal.SIGHUP)\n"
                                        "print('ignored' if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else 'not')")
    finally:
        kernel.close()
