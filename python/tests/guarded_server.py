"""Starts a Jupyter server with one line of configuration, a kernel through its REST interface, and prints as JSON what a client and the
monitor of jupyter-resource-usage see. Run by test_wheel_jupyter.py in the environment that has the wheel."""
import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

from jupyter_client import BlockingKernelClient

TOKEN = "test"
GUARDS = """
import os
def parent(pid): return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
pid, guards = os.getpid(), 0
while pid > 1:
    pid = parent(pid)
    guards += "plimsoll-guard" in open(f"/proc/{pid}/cmdline").read().split("\\0")[0]
print(guards)
"""


@contextlib.contextmanager
def server(folder, *options):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    words = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={port}", f"--IdentityProvider.token={TOKEN}",
             f"--ServerApp.root_dir={folder}", *options]
    with open(folder / "server.log", "w") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            yield Api(f"http://127.0.0.1:{port}", process)
        finally:
            process.terminate()


class Api:
    def __init__(self, address, process):
        self.address = address
        while True:
            try:
                self("GET", "/api")
                return
            except OSError:
                if process.poll() is not None:
                    raise
                time.sleep(0.1)

    def __call__(self, method, path, **body):
        request = urllib.request.Request(self.address + path, method=method, data=json.dumps(body).encode() if body else None,
                                         headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")


def connect(folder, kernel):
    file = next(pathlib.Path(folder).glob(f"**/*{kernel}*.json"))
    client = BlockingKernelClient(connection_file=str(file))
    client.load_connection_file()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return client


def run(client, code):
    text = []
    reply = client.execute_interactive(code, timeout=60, output_hook=lambda m: text.append(m["content"].get("text", "")))
    return reply["content"].get("ename") or "".join(text).strip()


def usage(client):
    message = client.session.msg("usage_request")
    client.control_channel.send(message)
    return client.get_control_msg(timeout=60)["content"]


def main(folder, runtime):
    folder = pathlib.Path(folder)
    options = ["--KernelProvisionerFactory.default_provisioner_name=plimsoll", "--GuardProvisioner.memory=1GiB",
               "--ServerApp.jpserver_extensions={'jupyter_resource_usage': True}"]
    with server(folder, *options) as api:
        kernel = api("POST", "/api/kernels", name="python3")["id"]
        client = connect(runtime, kernel)
        seen = {"guards": run(client, GUARDS),
                "backend": run(client, "import os; print(os.environ.get('KERAS_BACKEND'))"),
                "over": run(client, "x = bytearray(8 << 30)"), "after": run(client, "print(6 * 7)"),
                "pid": run(client, "print(os.getpid())"), "usage": usage(client),
                "monitor": api("GET", f"/api/metrics/v1/kernel_usage/get_usage/{kernel}")}
        sleeping = client.execute("import time; print('begun', flush=True); time.sleep(600)")
        while (message := client.get_iopub_msg(timeout=60))["parent_header"].get("msg_id") != sleeping or message["msg_type"] != "stream":
            pass
        api("POST", f"/api/kernels/{kernel}/interrupt")
        seen["interrupted"] = client.get_shell_msg(timeout=60)["content"]["ename"]
        client.stop_channels()
        api("POST", f"/api/kernels/{kernel}/restart")
        client = connect(runtime, kernel)
        seen["restarted"] = run(client, "print('x' in dir(), os.getpid() if 'os' in dir() else 'new')")
        client.stop_channels()
        api("DELETE", f"/api/kernels/{kernel}")
        twin = connect(runtime, api("POST", "/api/kernels", name="python3-guarded")["id"])
        seen["guards of a guarded twin"] = run(twin, GUARDS)
        twin.stop_channels()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
