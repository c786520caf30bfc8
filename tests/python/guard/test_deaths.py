"""Whatever kills the kernel, the cell says what it was, and the next cell runs."""
import json
import os
import pathlib
import re
import shutil
import time

import pytest
from deaths import DEATHS, cause_in, memory_group, remove_outer, write_death_specs

TIMES = 3


@pytest.fixture(scope="module", autouse=True)
def specs(folders):
    write_death_specs(folders / "data")
    yield
    remove_outer()


@pytest.mark.parametrize("name", DEATHS)
def test_the_cause_is_named_and_the_next_cell_runs(name, start, folders):
    cause, code, spec = DEATHS[name]
    if spec in ("outer", "small") and memory_group() is None and cause.endswith("oom"):
        pytest.skip("this machine: no control group can be made here, out-of-memory kills are not tested")
    kernel = start(spec)
    for _ in range(TIMES):
        reply = kernel.run(code)
        assert reply["content"]["status"] == "error" and reply["content"]["ename"] == "KernelDied"
        assert cause_in(reply, folders / "state")[0] == cause
        assert reply["outputs"][-1]["content"] == {"execution_state": "idle"}
        assert kernel.run("1 + 1")["outputs"][-2]["content"]["data"]["text/plain"] == "2"


def test_a_kernel_that_cannot_start_explains_itself(folders, start):
    from guarded import write_spec

    write_spec(folders / "data", "absent", command=["/no/such/program", "{connection_file}"])
    write_spec(folders / "data", "crashing", command=["/bin/sh", "-c", "echo no libfoo >&2; exit 3", "{connection_file}"])
    write_spec(folders / "data", "talking", command=["/bin/sh", "-c", "echo no licence; exit 3", "{connection_file}"])
    for name, word in (("absent", "/no/such/program"), ("crashing", "no libfoo"), ("talking", "no licence")):
        kernel = start(name)
        for _ in range(2):
            reply = kernel.run("1")
            cause, text, _ = cause_in(reply, folders / "state")
            assert cause == "startup_crash" and word in text


def test_a_kernel_that_cannot_start_is_started_for_cells_only(folders, start):
    from guarded import write_spec

    write_spec(folders / "data", "hopeless", command=["/bin/sh", "-c", "exit 4", "{connection_file}"])
    kernel = start("hopeless")
    numbers = []
    for _ in range(2):
        _, _, report = cause_in(kernel.run("1"), folders / "state")
        numbers.append(len(list((folders / "state/plimsoll/reports").glob("*.json"))))
        for _ in range(40):  # time for the guard to do what nobody asked for
            kernel.client.kernel_info(reply=True, timeout=120)
            time.sleep(0.02)
    assert numbers[1] == numbers[0] + 1


GROW = """import mmap, os, time
fd = os.memfd_create("shared"); os.ftruncate(fd, 1 << 30)
m = mmap.mmap(fd, 1 << 30)
for at in range(0, len(m), 4096):
    m[at] = 1
    # Slowly where the guard has to see it between the line and the hard limit of the control group.
    if at % (1 << 20) == 0: time.sleep(0.002 if at < 120 << 20 else 0.05)
"""


def test_a_cell_that_finds_memory_over_the_line_may_free_it(start):
    kernel = start("small")
    assert kernel.run(GROW)["content"]["ename"] == "KeyboardInterrupt"
    for _ in range(3):  # each would have been interrupted as it began
        text = kernel.text("import time; time.sleep(1); print(len(m) >> 30)")
        assert "1" in text.splitlines() and "is interrupted" not in text
    assert kernel.run("m.close()")["content"]["status"] == "ok"


@pytest.mark.skipif(memory_group() is None, reason="this machine: no control group can be made here")
def test_a_child_killed_for_memory_is_told_and_not_blamed(start, folders):
    from deaths import LOAD

    kernel = start("small")
    eat = LOAD + "lib.eat_memory(ctypes.c_long(2 << 30))"
    asked = kernel.client.execute(f"import os, subprocess, sys, time\nprint(subprocess.run([sys.executable, '-c', {eat!r}]).returncode, flush=True)\n"
                                  "while not os.path.exists('/proc/self/no'): time.sleep(0.1)")
    text = kernel.text_until("had started")
    assert "the system killed a process that this kernel had started" in text
    kernel.manager.interrupt_kernel()
    assert kernel.reply_to(asked)["ename"] == "KeyboardInterrupt"
    assert cause_in(kernel.run("import signal; os.kill(os.getpid(), signal.SIGKILL)"), folders / "state")[0] == "outside_kill"


REMOVE_FOLDER = """import ipykernel.connect, os, shutil
folder = os.path.dirname(ipykernel.connect.get_connection_file())
assert os.path.basename(folder).startswith("plimsoll-")
shutil.rmtree(folder)
"""


def test_a_cleaner_of_temporary_files_takes_no_notebook_down(kernel, folders):
    cause, _, _ = cause_in(kernel.run(REMOVE_FOLDER + "os.abort()"), folders / "state")
    assert cause == "aborted"
    assert kernel.text("print(6 * 7)") == "42\n"
    cause, text, _ = cause_in(kernel.run("import os\nos.abort()"), folders / "state")
    assert cause == "aborted" and "line 2: os.abort()" in text  # the gate is at work again


def test_a_start_that_cannot_be_prepared_is_explained_and_tried_again(kernel, folders):
    # A file where the folder was: nothing can be made there until it is gone.
    # By its descriptor: what ipykernel has not sent when it aborts is lost.
    reply = kernel.run(REMOVE_FOLDER + "open(folder, 'w').close()\nos.write(1, folder.encode() + b'\\n')\nos.abort()")
    folder = next(o["content"]["text"] for o in reply["outputs"] if o["msg_type"] == "stream").strip()
    cause, text, _ = cause_in(kernel.run("1"), folders / "state")
    assert cause == "startup_crash" and folder in text
    os.unlink(folder)
    kernel.run("1")
    assert kernel.text("print(6 * 7)") == "42\n"


def test_the_note_names_the_line_of_the_cell(kernel, folders):
    from deaths import LOAD

    code = LOAD + "def broken():\n    lib.crash_segfault()\nx = 1\nbroken()"
    _, text, report = cause_in(kernel.run(code), folders / "state")
    assert "line 6: broken()" in text and "line 4 in broken" in text
    assert "null pointer" in text and "guard_crasher.so" in text
    assert report["cell"]["code"] == code and report["memory"]["samples"]
    page = folders / "state" / "plimsoll" / "reports" / f"{report['number']}.html"
    assert "<svg" in page.read_text()


def test_the_line_is_named_while_other_threads_run_on(kernel, folders):
    from deaths import CHURN, LOAD

    for _ in range(5):
        kernel.run(CHURN)
        _, text, _ = cause_in(kernel.run(LOAD + "def broken():\n    lib.crash_segfault()\nbroken()"), folders / "state")
        assert "line 5: broken()" in text and "the cell line 4 in broken" in text


def test_the_line_is_named_when_a_native_thread_fails(kernel, folders):
    from deaths import CHURN, LOAD

    for _ in range(3):
        kernel.run(CHURN)
        cause, text, _ = cause_in(kernel.run(LOAD + "x = 1\nlib.crash_in_thread()"), folders / "state")
        assert cause == "segfault" and "line 4: lib.crash_in_thread()" in text


def test_the_line_is_named_when_another_python_thread_fails(kernel, folders):
    from deaths import LOAD

    code = LOAD + "from threading import Thread\nt = Thread(target=lib.crash_segfault)\nt.start()\nt.join()"
    _, text, _ = cause_in(kernel.run(code), folders / "state")
    assert re.search(r"line [56]: t\.(start|join)\(\)", text) and "the thread that failed is another one" in text


def test_the_signal_that_struck_first_is_blamed(kernel, folders):
    from deaths import LOAD

    cause, text, _ = cause_in(kernel.run(LOAD + "lib.crash_twice()"), folders / "state")
    assert cause == "illegal_instruction" and "whose handler was then ended by SIGSEGV" in text


def test_a_refusal_that_was_survived_is_not_blamed(start, folders):
    kernel = start("small")
    assert kernel.run("x = bytearray(1 << 30)")["content"]["ename"] == "MemoryError"
    from deaths import LOAD

    assert cause_in(kernel.run(LOAD + "lib.crash_segfault()"), folders / "state")[0] == "segfault"


def test_queued_cells_are_aborted_and_waiting_questions_answered(kernel, tmp_path):
    client = kernel.client
    go = tmp_path / "go"
    first = client.execute(f"import time, os\nwhile not os.path.exists({str(go)!r}): time.sleep(0.5)\nos._exit(1)")
    queued = [client.execute("print('must not run')") for _ in range(3)]
    asked = client.kernel_info()
    go.touch()
    replies = {}
    while not replies.keys() >= {first, asked, *queued}:
        message = client.get_shell_msg(timeout=120)
        replies[message["parent_header"]["msg_id"]] = message
    assert replies[first]["content"]["status"] == "error"
    assert [replies[q]["content"]["status"] for q in queued] == ["aborted"] * 3
    assert replies[asked]["content"]["implementation"] == "ipython"
    idle = set()
    while not idle >= {first, *queued}:
        message = client.get_iopub_msg(timeout=60)
        assert "must not run" not in message["content"].get("text", "")
        assert message["content"].get("execution_state") not in ("restarting", "dead")
        if message["content"].get("execution_state") == "idle":
            idle.add(message["parent_header"].get("msg_id"))


def test_death_between_cells_is_told_in_the_next(kernel):
    pid = int(kernel.text("import os; print(os.getpid())"))
    os.kill(pid, 9)
    # The next cell runs in the new kernel with a word on the old one, or is itself told, if it came before that was up.
    outputs = kernel.run("1")["outputs"]
    assert "killed from outside" in "".join(o["content"].get("text", "") + o["content"].get("evalue", "") for o in outputs)


def test_open_comms_are_closed(kernel):
    kernel.run("from comm import create_comm; c = create_comm(target_name='t')")
    reply = kernel.run("import os; os._exit(1)")
    assert "KernelDied" == reply["content"]["ename"]
    kinds = [o["msg_type"] for o in reply["outputs"]]
    while "comm_close" not in kinds:
        kinds.append(kernel.client.get_iopub_msg(timeout=60)["msg_type"])


def test_kept_cells_are_run_again(kernel):
    assert kernel.run("%guard keep\nimport math\nkept = 40")["content"]["status"] == "ok"
    kernel.run("lost = 1")
    kernel.run("import os; os._exit(1)")
    assert "1 kept cell was run again" in kernel.text("print(kept + math.floor(2.5))")
    assert kernel.run("lost")["content"]["ename"] == "NameError"
    kernel.run("%guard forget")
    kernel.run("import os; os._exit(1)")
    assert kernel.run("kept")["content"]["ename"] == "NameError"


def test_the_folder_of_a_killed_guard_is_removed_by_the_next(start, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setenv("TMPDIR", f"/tmp/guard-test-{os.getpid()}")
    base = pathlib.Path(os.environ["TMPDIR"])
    base.mkdir()
    try:
        left = base / "plimsoll-killed"
        foreign = base / "plimsoll-others"
        for folder in (left, foreign):
            folder.mkdir()
        (left / "lock").touch()
        os.utime(left / "lock", (0, 0))
        start()
        assert not left.exists() and foreign.exists()
        assert len(list(base.glob("plimsoll-*/lock"))) == 1
    finally:
        shutil.rmtree(base, ignore_errors=True)


def test_reports_are_listed_and_shown(kernel, folders):
    from guarded import PLIMSOLL, run_plimsoll

    if not PLIMSOLL.exists():
        pytest.skip("build/bin/plimsoll is not built")
    kernel.run("import os; os._exit(9)")
    last = run_plimsoll("reports").stdout.strip().splitlines()[-1]
    assert "exited" in last
    shown = json.loads(run_plimsoll("report", last.split()[0], "--json").stdout)
    assert shown["cause"] == "exited" and shown["cell"]["code"] == "import os; os._exit(9)"
    assert "exit status 9" in run_plimsoll("report").stdout
