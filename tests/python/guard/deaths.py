"""Twelve kinds of death: the code that brings each about, and the cause that the guard has to name."""
import os
import pathlib
import re
import subprocess

from guarded import BUILD, GUARD, write_spec

CRASHER = BUILD / "lib" / "plimsoll" / "guard_crasher.so"
LOAD = f"import ctypes, os, signal\nlib = ctypes.CDLL({str(CRASHER)!r})\n"
# Threads whose frames and code come and go while another one fails.
CHURN = """import threading
def churn():
    while True:
        exec("def h(d):\\n  return h(d - 1) + 1 if d else 0\\nh(150)", {})
for _ in range(4): threading.Thread(target=churn, daemon=True).start()
"""
LINE = 200 * 2**20
OUTER = f"guard-test-outer-{os.getpid()}"

# name: (cause in the report, code of the cell, kernelspec)
DEATHS = {
    "cgroup oom": ("cgroup_oom", LOAD + "lib.eat_memory(ctypes.c_long(2 << 30))", "small"),
    "host oom": ("host_oom", LOAD + "lib.eat_memory(ctypes.c_long(2 << 30))", "outer"),
    "over the line": ("memory_line", LOAD + "lib.use_without_check(ctypes.c_long(1 << 30))", "small"),
    "outside kill": ("outside_kill", LOAD + "os.kill(os.getpid(), signal.SIGKILL)", "guarded"),
    "segfault": ("segfault", LOAD + "lib.crash_segfault()", "guarded"),
    "stack overflow": ("stack_overflow", LOAD + "lib.crash_stack(0)", "guarded"),
    "illegal instruction": ("illegal_instruction", LOAD + "lib.crash_illegal()", "guarded"),
    "bad_alloc": ("bad_alloc", LOAD + "lib.crash_bad_alloc()", "guarded"),
    "failed check": ("failed_check", LOAD + "lib.crash_check()", "guarded"),
    "duplicate openmp": ("duplicate_openmp", LOAD + "lib.crash_openmp()", "guarded"),
    "bus error": ("bus_error", LOAD + "lib.crash_bus(b'/tmp/plimsoll-bus-%d' % os.getpid())", "guarded"),
    "exit": ("exited", LOAD + "os._exit(41)", "guarded"),
}


def memory_group():
    """The folder of this process's v1 memory control group, if one can be made below it."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        folder = pathlib.Path("/sys/fs/cgroup/memory" + path)
        if "memory" in controllers.split(",") and os.access(folder, os.W_OK):
            return folder
    return None


def write_death_specs(data_folder):
    """Kernelspecs with a low line, and with a container around the guard that is smaller than the line."""
    write_spec(data_folder, "small", "--memory", str(LINE))
    group = memory_group()
    if group is None:
        return
    outer = group / OUTER
    outer.mkdir(exist_ok=True)
    (outer / "memory.limit_in_bytes").write_text(str(LINE))
    write_spec(data_folder, "outer", "--memory", str(4 * LINE))
    path = pathlib.Path(data_folder) / "kernels" / "outer" / "kernel.json"
    text = path.read_text()
    shell = f'["sh", "-c", "echo $$ > {outer}/cgroup.procs; exec \\"$@\\"", "sh", "{GUARD}"'
    path.write_text(text.replace(f'["{GUARD}"', shell, 1))


def remove_outer():
    group = memory_group()
    if group is not None:
        subprocess.run(["rmdir", str(group / OUTER)], check=False, capture_output=True)


def cause_in(reply, state_folder):
    """The cause named in the report that the cell's note refers to."""
    import json

    error = next(o for o in reply["outputs"] if o["msg_type"] == "error")
    text = "\n".join(error["content"]["traceback"])
    number = re.search(r"plimsoll report (\d+)", text).group(1)
    report = json.loads((pathlib.Path(state_folder) / "plimsoll" / "reports" / f"{number}.json").read_text())
    return report["cause"], text, report
