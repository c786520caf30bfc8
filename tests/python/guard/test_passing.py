"""Messages pass as if the guard were not there."""
import os
import time

import nbformat
from nbclient import NotebookClient


def test_output_and_results_pass(kernel):
    reply = kernel.run("print('hello')\n6 * 7")
    kinds = [o["msg_type"] for o in reply["outputs"]]
    assert kinds == ["status", "execute_input", "stream", "execute_result", "status"]
    assert reply["outputs"][3]["content"]["data"]["text/plain"] == "42"


def test_native_output_lands_in_the_cell(kernel):
    client = kernel.client
    msg_id = client.execute("import os; os.system('echo from a child; echo and its stderr >&2');")
    text = ""
    # ipykernel's thread that reads the kernel's own stdout may send it after the cell's "idle".
    while "from a child" not in text or "and its stderr" not in text:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") == msg_id:
            text += message["content"].get("text", "")


SLEEPS = "print('begun', flush=True); import time; time.sleep(300)"


def run_and_interrupt(kernel, interrupt):
    """Interrupts a cell once it has begun; its reply."""

    def hook(message):
        if message["msg_type"] == "stream":
            interrupt()

    return kernel.client.execute_interactive(SLEEPS, output_hook=hook, timeout=120)


def test_interrupt_by_signal(kernel):
    reply = run_and_interrupt(kernel, kernel.manager.interrupt_kernel)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert kernel.run("1")["content"]["status"] == "ok"


def test_interrupt_by_message(kernel):
    def ask():
        message = kernel.client.session.msg("interrupt_request", {})
        kernel.client.control_channel.send(message)

    assert run_and_interrupt(kernel, ask)["content"]["ename"] == "KeyboardInterrupt"


def test_input_reaches_the_cell(kernel):
    client = kernel.client
    client.allow_stdin = True
    msg_id = client.execute("print('got', input('name? '))", allow_stdin=True)
    assert client.get_stdin_msg(timeout=60)["content"]["prompt"] == "name? "
    client.input("Ada")
    text = ""
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != msg_id:
            continue
        text += message["content"].get("text", "")
        if message["content"].get("execution_state") == "idle":
            break
    assert "got Ada" in text


def test_restart_and_shutdown_leave_nothing(kernel):
    guard = kernel.pid
    kernel.manager.restart_kernel()
    kernel.client.wait_for_ready(timeout=120)
    assert kernel.run("1")["content"]["status"] == "ok"
    child = int(kernel.text("import os; print(os.getpid())"))
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel()
    deadline = time.monotonic() + 60
    while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{child}") and not os.path.exists(f"/proc/{guard}")


def test_nbclient_runs_a_notebook(folders):
    cells = [nbformat.v4.new_code_cell(code) for code in ("x = 20", "x + 1", "import os; os._exit(7)", "1 + 1")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="guarded", timeout=120, allow_errors=True).execute()
    assert notebook.cells[1].outputs[0]["data"]["text/plain"] == "21"
    assert notebook.cells[2].outputs[-1]["output_type"] == "error"
    assert notebook.cells[3].outputs[0]["data"]["text/plain"] == "2"
