"""Encryption, ipc, subshells, floods, large buffers and junk on the wire."""
import os
import random
import time

import pytest
import zmq
from guarded import Kernel
from jupyter_client.manager import KernelManager


def managed(**traits):
    """A kernel started by a manager with these traits."""
    manager = KernelManager(kernel_name="guarded", **traits)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    kernel = Kernel.__new__(Kernel)
    kernel.manager, kernel.client = manager, client
    return kernel


def dies_and_goes_on(kernel):
    assert kernel.text("print('in')") == "in\n"
    assert kernel.run("import os; os._exit(1)")["content"]["ename"] == "KernelDied"
    assert kernel.text("print('again')") == "again\n"


@pytest.mark.skipif(not hasattr(KernelManager, "transport_encryption"), reason="jupyter_client before 8.10")
def test_encrypted_connection():
    kernel = managed(transport_encryption="required")
    try:
        assert kernel.manager.curve_publickey
        dies_and_goes_on(kernel)
    finally:
        kernel.close()


def test_ipc_connection(tmp_path):
    kernel = managed(transport="ipc", ip=f"/tmp/plimsoll-test-{os.getpid()}")
    try:
        dies_and_goes_on(kernel)
    finally:
        kernel.close()


def test_kernels_that_speak_tcp_only(folders, start):
    from guarded import write_spec

    write_spec(folders / "data", "over-tcp", "--transport", "tcp")
    dies_and_goes_on(start("over-tcp"))


def test_subshells(kernel):
    client = kernel.client

    def control(kind, content):
        client.control_channel.send(client.session.msg(kind, content))
        return client.get_control_msg(timeout=60)["content"]

    subshell = control("create_subshell_request", {})["subshell_id"]

    def execute_there(code):
        message = client.session.msg("execute_request", {"code": code, "silent": False})
        message["header"]["subshell_id"] = subshell
        client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def next_reply(*wanted):
        while True:
            asked = client.get_shell_msg(timeout=60)["parent_header"]["msg_id"]
            if asked in wanted:
                return asked

    kernel.run("import threading; go_on = threading.Event()")
    slow = client.execute("go_on.wait(120)")
    beside = execute_there("1")
    assert next_reply(slow, beside) == beside
    execute_there("go_on.set()")
    assert next_reply(slow) == slow
    assert control("list_subshell_request", {})["subshell_id"] == [subshell]
    kernel.run("import os; os._exit(1)")
    assert control("list_subshell_request", {})["subshell_id"] == []


def test_a_flood_of_outputs_arrives_whole_and_in_order(kernel):
    count = 5_000
    code = f"from IPython.display import publish_display_data as p\nfor i in range({count}): p({{'text/plain': str(i)}})"
    msg_id = kernel.client.execute(code)
    time.sleep(2)  # nobody reads, and the queues fill
    seen = []
    while len(seen) < count:
        message = kernel.client.get_iopub_msg(timeout=120)
        if message["parent_header"].get("msg_id") == msg_id and message["msg_type"] == "display_data":
            seen.append(int(message["content"]["data"]["text/plain"]))
    assert seen == list(range(count))


def test_a_large_buffer_passes_without_a_copy(kernel):
    size = 256 << 20
    kernel.run("from comm import create_comm; c = create_comm(target_name='t')")
    kernel.client.execute(f"b = bytes({size}); c.send(buffers=[b])")
    while True:
        message = kernel.client.get_iopub_msg(timeout=120)
        if message["msg_type"] == "comm_msg":
            break
    assert len(message["buffers"][0]) == size
    status = open(f"/proc/{kernel.pid}/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0]) << 10
    assert peak < 1.5 * size


def test_junk_on_the_wire_changes_nothing(kernel):
    random.seed(1)
    info = kernel.manager.get_connection_info()
    context = zmq.Context()
    good = kernel.client.session.serialize(kernel.client.session.msg("execute_request", {"code": "import os; os._exit(1)"}))
    for channel in ("shell", "control", "stdin"):
        socket = context.socket(zmq.DEALER)
        socket.linger = 0
        socket.connect(f"tcp://{info['ip']}:{info[channel + '_port']}")
        for _ in range(300):
            frames = [bytes(f) for f in good]
            for _ in range(random.randint(1, 4)):
                at = random.randrange(len(frames))
                change = random.randrange(4)
                if change == 0:
                    frames[at] = os.urandom(random.randrange(40))
                elif change == 1:
                    frames.pop(at)
                    frames = frames or [b""]
                elif change == 2:
                    frames.insert(at, b"<IDS|MSG>")
                else:
                    frames[at] = frames[at][: random.randrange(len(frames[at]) + 1)] + b"{"
            if frames != [bytes(f) for f in good]:
                socket.send_multipart(frames)
        socket.close()
    # Junk that is no ZeroMQ at all.
    import socket as plain

    for _ in range(20):
        with plain.create_connection((info["ip"], info["shell_port"])) as s:
            s.send(os.urandom(200))
    context.term()
    assert kernel.run("40 + 2")["outputs"][-2]["content"]["data"]["text/plain"] == "42"


def test_many_deaths_leave_no_trace(folders, start):
    """A program that dies at once stands for the kernel: what is measured is the guard."""
    from guarded import write_spec

    write_spec(folders / "data", "mayfly", command=["/bin/false", "{connection_file}"])
    kernel = start("mayfly")

    def resources():
        status = open(f"/proc/{kernel.pid}/status").read()
        rss, threads = (int(status.split(key)[1].split()[0]) for key in ("RssAnon:", "Threads:"))
        return rss, threads, len(os.listdir(f"/proc/{kernel.pid}/fd"))

    for _ in range(30):
        kernel.run("1")
    before = resources()
    for _ in range(150):
        assert kernel.run("1")["content"]["ename"] == "KernelDied"
    after = resources()
    assert after[1:] == before[1:] and after[0] - before[0] < 300, (before, after)
