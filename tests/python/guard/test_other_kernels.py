"""Kernels other than ipykernel under guard: a cell runs, the kernel is killed, the next cell runs."""
import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest
from deaths import cause_in
from guarded import write_spec


def has_irkernel():
    if not shutil.which("R"):
        return False
    return subprocess.run(["R", "--slave", "-e", "library(IRkernel)"], capture_output=True, timeout=120).returncode == 0


def has_module(name):
    return importlib.util.find_spec(name) is not None


# name: (is it here?, command, a cell that prints 42, a cell that kills the kernel, where to get it)
KERNELS = {
    "bash": (lambda: has_module("bash_kernel"), [sys.executable, "-m", "bash_kernel", "-f", "{connection_file}"],
             "echo $((6 * 7))", "kill -9 $PPID", "pip install bash_kernel"),
    "xpython": (lambda: has_module("xpython_launcher"), [sys.executable, "-m", "xpython_launcher", "-f", "{connection_file}"],
                "print(6 * 7)", "import os; os.kill(os.getpid(), 9)", "pip install xeus-python"),
    "ir": (has_irkernel, ["R", "--slave", "-e", "IRkernel::main()", "--args", "{connection_file}"],
           "cat(6 * 7)", "tools::pskill(Sys.getpid(), 9)", "apt-get install r-cran-irkernel"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_it_runs_dies_and_runs_again(name, folders, start):
    here, command, prints, kills, get_it = KERNELS[name]
    if not here():
        pytest.skip(f"the kernel {name} is not here: {get_it}")
    write_spec(pathlib.Path(folders) / "data", f"guarded-{name}", command=command)
    kernel = start(f"guarded-{name}")
    printed = lambda: kernel.text(prints).split()[-1]  # xeus may name itself before
    for _ in range(2):
        assert printed() == "42"
        reply = kernel.run(kills)
        assert reply["content"]["ename"] == "KernelDied"
        assert cause_in(reply, folders / "state")[0] == "outside_kill"
    assert printed() == "42"
