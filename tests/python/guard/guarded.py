"""What the tests of the guard share: where it is built, kernelspecs, and kernels with one client."""
import os
import pathlib
import queue
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build"))
PLIMSOLL = BUILD / "bin" / "plimsoll"
GUARD = BUILD / "bin" / "plimsoll-guard"


def write_spec(folder, name, *options, command=None):
    """Writes a guarded kernelspec by hand, so that only plimsoll-guard has to be built."""
    import json

    argv = command or [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {
        "argv": [str(GUARD), "-f", "{connection_file}", "--name", "python3", "--language", "python",
                 *options, "--", *argv],
        "display_name": name, "language": "python",
        "metadata": {"supported_encryption": ["curve"], "debugger": True},
    }
    path = pathlib.Path(folder) / "kernels" / name
    path.mkdir(parents=True, exist_ok=True)
    (path / "kernel.json").write_text(json.dumps(spec))


def state(pid):
    """The letter of its state, or nothing if there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def children(pid):
    """Those of a process; none if it is gone."""
    try:
        return [int(c) for t in pathlib.Path(f"/proc/{pid}/task").iterdir() for c in (t / "children").read_text().split()]
    except FileNotFoundError:
        return []


class Kernel:
    """A started kernel with one client, and what its cells gave."""

    def __init__(self, name="guarded", **kwargs):
        from jupyter_client.manager import start_new_kernel

        self.manager, self.client = start_new_kernel(kernel_name=name, startup_timeout=120, **kwargs)

    @property
    def pid(self):
        return self.manager.provisioner.pid

    def run(self, code, timeout=120):
        """Runs one cell: its reply with the iopub messages as `outputs` and the seconds it took."""
        outputs = []
        begin = time.monotonic()
        reply = self.client.execute_interactive(code, output_hook=outputs.append, timeout=timeout)
        reply["outputs"] = outputs
        reply["seconds"] = time.monotonic() - begin
        return reply

    def text(self, code, **kwargs):
        """What one cell wrote, all streams together."""
        outputs = self.run(code, **kwargs)["outputs"]
        return "".join(o["content"]["text"] for o in outputs if o["msg_type"] == "stream")

    def text_until(self, words, timeout=120):
        """What comes on the streams until it holds these words. If they do not come, what is known of the kernel is told."""
        text, came = "", []
        while words not in text:
            try:
                message = self.client.get_iopub_msg(timeout=timeout)
            except queue.Empty:
                raise AssertionError(f"no {words!r} in {timeout} s; what came: {came}\n{self.threads()}") from None
            came.append((message["msg_type"], message["content"]))
            text += message["content"].get("text", "") if message["msg_type"] == "stream" else ""
        return text

    def threads(self):
        """What each thread of the guard and of its kernel does, line by line, and whether the gate is there."""
        told = []
        for pid in [self.pid, *children(self.pid)]:
            try:
                maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
                told.append(f"process {pid}, gate {'there' if 'libplimsoll_gate' in maps else 'not there'}")
                for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir(), key=lambda t: int(t.name)):
                    status = (task / "status").read_text()
                    wakes = status.split("voluntary_ctxt_switches:")[1].split()[0]
                    told.append("  " + " ".join([task.name, *status.split()[1:2], state(f"{pid}/task/{task.name}"), wakes, (task / "syscall").read_text().strip()]))
            except OSError as error:
                told.append(f"process {pid}: {error}")
        return "\n".join(told)

    def reply_to(self, asked, timeout=120):
        """The content of the reply to the request with this id."""
        while True:
            message = self.client.get_shell_msg(timeout=timeout)
            if message["parent_header"]["msg_id"] == asked:
                return message["content"]

    def close(self):
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel()


def run_plimsoll(*words, **kwargs):
    return subprocess.run([str(PLIMSOLL), *words], capture_output=True, text=True, timeout=120, **kwargs)
