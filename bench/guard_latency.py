"""What the guard adds to a round trip of kernel_info, and the throughput of a large buffer: direct, guarded and, as the
least that ZeroMQ allows between two sockets, through a bare zmq_proxy, in turns. Also the guard's resident size.

    python bench/guard_latency.py [--rounds 300] [--buffer-mib 256]
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import zmq

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUARD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build")) / "bin" / "plimsoll-guard"
ECHO = '''
import json, sys, zmq
# The least a kernel can be: it sends each request back as its reply, so that what is measured is the way.
c = json.load(open(sys.argv[1]))
def address(port): return f"ipc://{c['ip']}-{port}" if c["transport"] == "ipc" else f"tcp://{c['ip']}:{port}"
context = zmq.Context()
shell = context.socket(zmq.ROUTER); shell.bind(address(c["shell_port"]))
iopub = context.socket(zmq.XPUB); iopub.bind(address(c["iopub_port"]))
for name in ("control_port", "stdin_port", "hb_port"):
    s = context.socket(zmq.ROUTER); s.bind(address(c[name]))
from jupyter_client.session import Session
session = Session(key=c["key"].encode(), signature_scheme=c["signature_scheme"])
while True:
    idents, frames = session.feed_identities(shell.recv_multipart())
    message = session.deserialize(frames)
    if message["header"]["msg_id"] and message["header"]["session"] == "plimsoll-guard":
        iopub.send_multipart(session.serialize(session.msg("status", {"execution_state": "idle"}, parent=message)))
    reply = session.msg(message["msg_type"].replace("request", "reply"), {"status": "ok"}, parent=message)
    session.send(shell, reply, ident=idents, buffers=message["buffers"])
'''
# A bare proxy in place of the guard: C code of libzmq alone once it runs.
PROXY = '''
import json, subprocess, sys, zmq
c = json.load(open(sys.argv[1]))
private = dict(c, transport="ipc", ip=sys.argv[1] + ".sock")
for i, name in enumerate(("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")): private[name] = i + 1
with open(sys.argv[1] + ".private", "w") as f: json.dump(private, f)
kernel = subprocess.Popen([sys.executable, sys.argv[2], sys.argv[1] + ".private"])
context = zmq.Context()
front = context.socket(zmq.ROUTER); front.bind(f"tcp://{c['ip']}:{c['shell_port']}")
back = context.socket(zmq.DEALER); back.connect(f"ipc://{private['ip']}-{private['shell_port']}")
try:
    zmq.proxy(front, back)
finally:
    kernel.kill()
'''


def start(folder, name, argv):
    from jupyter_client.manager import KernelManager

    spec = folder / "kernels" / name / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    spec.write_text(json.dumps({"argv": argv, "display_name": name, "language": "python"}))
    manager = KernelManager(kernel_name=name)
    manager.start_kernel()
    client = manager.client()
    client.start_channels(shell=True, iopub=True, stdin=False, hb=False, control=False)
    info = manager.get_connection_info()
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.connect(f"tcp://{info['ip']}:{info['shell_port']}")
    return manager, client.session, socket


def round_trip(session, socket, buffers=()):
    frames = session.serialize(session.msg("kernel_info_request", {})) + list(buffers)
    begin = time.perf_counter()
    socket.send_multipart(frames, copy=False)
    socket.recv_multipart(copy=False)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--block", type=int, default=50, help="round trips of one way before the next has its turn")
    parser.add_argument("--buffer-mib", type=int, default=256)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["JUPYTER_DATA_DIR"] = name
        (folder / "echo.py").write_text(ECHO)
        (folder / "proxy.py").write_text(PROXY)
        kernel = [sys.executable, str(folder / "echo.py"), "{connection_file}"]
        guard = [str(GUARD), "-f", "{connection_file}", "--transport", "ipc", "--"]
        proxy = [sys.executable, str(folder / "proxy.py"), "{connection_file}", str(folder / "echo.py")]
        argv = {"direct": kernel, "proxy": proxy, "guarded": guard + kernel}
        ways = {way: start(folder, way, words) for way, words in argv.items()}
        times = {way: [] for way in ways}
        for way, (_, session, socket) in ways.items():
            for _ in range(20):
                round_trip(session, socket)
        for _ in range(max(1, options.rounds // options.block)):
            for way, (_, session, socket) in ways.items():
                times[way] += [round_trip(session, socket) * 1e6 for _ in range(options.block)]
        for way, values in times.items():
            values.sort()
            print(f"{way:<8} round trip p10 {values[len(values) // 10]:.0f}  p50 {statistics.median(values):.0f}  "
                  f"p99 {values[int(len(values) * 0.99)]:.0f} us")
        for quantile in (0.1, 0.5, 0.99):
            direct, proxied, guarded = (values[int(len(values) * quantile)] for values in times.values())
            print(f"added at p{quantile * 100:.0f}: {guarded - direct:.0f} us (by a bare proxy {proxied - direct:.0f})")
        data = os.urandom(1 << 20) * options.buffer_mib
        for way, (_, session, socket) in ways.items():
            best = min(round_trip(session, socket, [data]) for _ in range(3))
            print(f"{way:<8} {options.buffer_mib} MiB there and back: {2 * options.buffer_mib / 1024 / best:.2f} GiB/s")
        status = open(f"/proc/{ways['guarded'][0].provisioner.pid}/status").read()
        print("guard:", ", ".join(" ".join(line.split()) for line in status.splitlines() if line.startswith(("VmRSS", "RssAnon", "RssFile"))))
        for manager, _, _ in ways.values():
            manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()
