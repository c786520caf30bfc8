"""Guarded kernels for the cases: the environment, one kernel with one client, what it saw."""
import json, os, pathlib, queue, re, shutil, subprocess, tempfile, time
from jupyter_client.manager import KernelManager

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ.get("BLIND_ROOT", "/tmp/blind4"))
PLIMSOLL = os.environ.get("PLIMSOLL", "plimsoll")
PYTHON = ROOT / "env/bin/python"
FAULTS = ROOT / "faults.so"


def make_environment():
    """The system's Python (that of Debian 12, with its python3-torch and python3-numpy), ipykernel, pandas and Matplotlib."""
    if not PYTHON.exists():
        pip = os.environ.get("BLIND_PIP", "pip")
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", ROOT / "env"], check=True)
        subprocess.run([pip, "--python", PYTHON, "install", "-q", "ipykernel==7.4.0", "pandas==2.0.3", "matplotlib==3.10.7"], check=True)
    spec = ROOT / "env/share/jupyter/kernels/python3/kernel.json"
    if json.loads(spec.read_text())["argv"][0] != str(PYTHON):      # the one that the wheel brings says "python", which Jupyter takes for its own
        subprocess.run([PYTHON, "-m", "ipykernel", "install", "--sys-prefix"], check=True, capture_output=True)
    if not FAULTS.exists() or FAULTS.stat().st_mtime < (HERE / "faults.cpp").stat().st_mtime:
        include = subprocess.run(["/usr/bin/python3", "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"], check=True, capture_output=True, text=True).stdout.strip()
        include = include if pathlib.Path(include, "Python.h").exists() else str(next(pathlib.Path.home().glob(".pyenv/versions/3.11.*/include/python3.11")))
        subprocess.run(["g++", "-O1", "-g", "-fno-builtin", "-Wno-terminate", "-fstack-protector-all", "-UNDEBUG", "-shared", "-fPIC", "-pthread", f"-I{include}", "-o", FAULTS, HERE / "faults.cpp"], check=True)


class Kernel:
    """A kernel, guarded unless `plain`, as Jupyter starts it; everything that its client got stays in `messages`."""

    def __init__(self, plain=False, options=(), change=None, env=None):
        self.home = pathlib.Path(tempfile.mkdtemp(dir=ROOT, prefix="home"))
        self.env = {k: v for k, v in os.environ.items() if re.match(r"LANG$|LC_|TZ$", k)} | {
            "HOME": str(self.home), "PATH": f"{PYTHON.parent}:/usr/local/bin:/usr/bin:/bin", "VIRTUAL_ENV": str(ROOT / "env"), "JUPYTER_PREFER_ENV_PATH": "0",
            "JUPYTER_DATA_DIR": str(self.home / "data"), "XDG_STATE_HOME": str(self.home / "state"), "MPLBACKEND": "agg"} | (env or {})
        name = "python3"
        if not plain:
            subprocess.run([PLIMSOLL, "kernel", "install", *options], env=self.env, check=True, capture_output=True)
            name = "python3-guarded"
        spec = next(p for p in [*self.home.rglob(f"{name}/kernel.json"), *(ROOT / "env").rglob(f"share/jupyter/kernels/{name}/kernel.json")])
        own = json.loads(spec.read_text())
        if change:
            own["argv"] = change(own["argv"])
        at = self.home / "kernels" / name
        at.mkdir(parents=True)
        (at / "kernel.json").write_text(json.dumps(own))
        self.manager = KernelManager(kernel_name=name)
        self.manager.kernel_spec_manager.kernel_dirs = [str(at.parent)]
        self.manager.start_kernel(env=self.env | own.get("env", {}), cwd=str(self.home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self.manager.provisioner.pid
        self.messages, self.replies, self.asked = [], {}, []
        self.client = self.manager.client()
        self.client.start_channels()

    def ready(self, timeout=400):
        self.client.wait_for_ready(timeout=timeout)
        return self

    def send(self, code, stdin=False):
        return self.client.execute(code, allow_stdin=stdin, stop_on_error=True)

    def pump(self, seconds):
        """Takes what comes within some seconds, at least what is there."""
        end = time.monotonic() + seconds
        while True:
            try:
                self.messages.append(self.client.get_iopub_msg(timeout=max(0.02, min(0.2, end - time.monotonic()))))
            except queue.Empty:
                pass
            for take, keep in ((self.client.get_shell_msg, self.reply), (self.client.get_stdin_msg, self.asked.append)):
                try:
                    keep(take(timeout=0))
                except queue.Empty:
                    pass
            if time.monotonic() >= end:
                return

    def reply(self, message):
        self.replies[message["parent_header"].get("msg_id")] = message["content"]

    def of(self, sent, kind=None):
        return [m for m in self.messages if m["parent_header"].get("msg_id") == sent and (kind is None or m["msg_type"] == kind)]

    def wait(self, sent, timeout=240):
        """Until the cell is idle and answered; the content of its reply, or None if that did not come."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            self.pump(0.05)
            if sent in self.replies and any(m["content"]["execution_state"] == "idle" for m in self.of(sent, "status")):
                return self.replies[sent]
        return None

    def said(self, sent):
        """All that the cell shows."""
        text = ""
        for m in self.of(sent):
            t, c = m["msg_type"], m["content"]
            text += c["text"] if t == "stream" else "\n".join(c["traceback"]) if t == "error" else c["data"].get("text/plain", "") if t in ("display_data", "update_display_data", "execute_result") else ""
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    def run(self, code, timeout=240):
        sent = self.send(code)
        return self.wait(sent, timeout), self.said(sent)

    def value(self, expression, timeout=240):
        """What a cell prints, stripped; also if a note of the guard stands before it."""
        reply, said = self.run(f"print('<<', {expression}, '>>')", timeout)
        found = re.search(r"<< (.*?) >>", said, re.S)
        return found.group(1) if reply and found else f"no value: reply {reply and reply['status']}, said {said[:300]!r}"

    def kernel_pid(self):
        return int(self.value("__import__('os').getpid()"))

    def report(self, text):
        found = re.search(r"plimsoll report (\d+)", text)
        path = self.home / f"state/plimsoll/reports/{found.group(1) if found else 'none'}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def reports(self):
        return [json.loads(p.read_text()) for p in sorted((self.home / "state/plimsoll/reports").glob("*.json"), key=lambda p: int(p.stem) if p.stem.isdigit() else 0)]

    def seen_dead(self):
        """Whether a client would have shown a dialog: the program that Jupyter started is gone, or a status says so."""
        states = {m["content"]["execution_state"] for m in self.messages if m["msg_type"] == "status"}
        return states & {"dead", "restarting"} or not self.manager.is_alive()

    def close(self):
        self.client.stop_channels()
        try:
            self.manager.shutdown_kernel(now=True)
        finally:
            shutil.rmtree(self.home, ignore_errors=True)
