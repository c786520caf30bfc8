"""Starts a JupyterHub with the configuration that docs/hubs.md shows, and prints as JSON what kernels of two users see. Run by test_hub.py
in the environment that has the wheel. Users' servers are asked directly: no proxy stands before them."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from guarded_server import GUARDS, connect, run

TOKEN = "a-token-of-the-test"
MORE = """
import sys
from jupyterhub.proxy import Proxy

class NoProxy(Proxy):
    async def start(self): pass
    async def stop(self): pass
    async def add_route(self, routespec, target, data): pass
    async def delete_route(self, routespec): pass
    async def get_all_routes(self): return {{}}

c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/{{username}}"
c.Spawner.start_timeout = c.Spawner.http_timeout = 250
c.Spawner.port = {server}
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root"]
c.JupyterHub.services = [{{"name": "test", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{"name": "all", "scopes": ["admin:users", "admin:servers", "access:servers"], "services": ["test"]}}]
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(method, url, **body):
    request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body else None,
                                     headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")


def ask_until(fine, hub, method, url, **body):
    while True:
        try:
            answer = ask(method, url, **body)
            if fine(answer):
                return answer
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise
        except OSError:
            pass
        if hub.poll() is not None:
            raise SystemExit("the hub has ended; hub.log says why")
        time.sleep(0.2)


def of_user(name, hub, api, server, folder):
    """What a kernel of this user sees; the user's server is stopped again."""
    ask("POST", f"{api}/users/{name}")
    ask("POST", f"{api}/users/{name}/server")
    ask_until(lambda user: user["servers"].get("", {}).get("ready"), hub, "GET", f"{api}/users/{name}")
    kernel = ask_until(bool, hub, "POST", f"http://127.0.0.1:{server}/user/{name}/api/kernels", name="python3")["id"]
    client = connect(folder / name, kernel)
    seen = {"guards": run(client, GUARDS), "three GiB": run(client, "x = bytearray(3 << 30); del x; print('taken')"),
            "died": run(client, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"), "after": run(client, "print(6 * 7)")}
    client.stop_channels()
    ask("DELETE", f"{api}/users/{name}/server")
    ask_until(lambda user: not user["servers"], hub, "GET", f"{api}/users/{name}")
    return seen


def main(folder, page):
    folder = pathlib.Path(folder)
    shown = re.search(r'```python title="jupyterhub_config.py"\n(.*?)```', pathlib.Path(page).read_text(), re.DOTALL)[1]
    ports = {"hub": free_port(), "server": free_port()}
    config = folder / "jupyterhub_config.py"
    config.write_text(shown.replace("/var/lib/kernel-reports", str(folder / "reports")) + MORE.format(folder=folder, token=TOKEN, **ports))
    with open(folder / "hub.log", "w") as log:
        hub = subprocess.Popen([sys.executable, "-m", "jupyterhub", "-f", str(config)], cwd=folder, stdout=log, stderr=log, start_new_session=True)
    try:
        api = f"http://127.0.0.1:{ports['hub']}/hub/api"
        ask_until(bool, hub, "GET", f"{api}/")
        seen = {name: of_user(name, hub, api, ports["server"], folder) for name in ("teaching", "ada")}
        for name in seen:
            reports = sorted((folder / "reports" / name).rglob("*.json"))
            seen[name]["causes"] = [json.loads(report.read_text())["cause"] for report in reports]
    finally:
        if hub.poll() is None:
            os.killpg(hub.pid, signal.SIGTERM)
            hub.wait()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
