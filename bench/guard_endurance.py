"""What many deaths leave behind in the guard, whether a flood of outputs arrives whole and in order, and how a large
buffer passes.

    python bench/guard_endurance.py [--deaths 10000] [--outputs 100000] [--buffer-mib 1024] [--real 0] [--minutes 10]

The deaths are those of a kernel that answers questions and dies of its first cell, by one signal after another, so that
what is measured is the guard. --minutes bounds them; --real adds as many deaths of a real ipykernel. 0 leaves a part out.
"""
import argparse
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python" / "guard"))


def resources(kernel):
    """Anonymous resident kB, threads and open descriptors of the guard."""
    status = open(f"/proc/{kernel.pid}/status").read()
    rss, threads = (int(status.split(key)[1].split()[0]) for key in ("RssAnon:", "Threads:"))
    return rss, threads, len(os.listdir(f"/proc/{kernel.pid}/fd"))


CODES = [str(int(number)) for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)] + ["exit"]


def many_deaths(kernel, count, minutes, codes=CODES):
    """Sends one deadly cell after another; the guard's resources before, on the way and after."""
    import zmq

    client = kernel.client
    client.stop_channels()  # what nobody reads the guard would keep
    info = kernel.manager.get_connection_info()
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.connect(f"tcp://{info['ip']}:{info['shell_port']}")

    def die(number):
        request = client.session.msg("execute_request", {"code": codes[number % len(codes)], "silent": False})
        client.session.send(socket, request)
        if not socket.poll(120_000):
            return False
        reply = client.session.recv(socket)[1]
        return reply["parent_header"]["msg_id"] == request["header"]["msg_id"] and reply["content"].get("ename") == "KernelDied"

    end = begin = time.monotonic()
    end += 60 * minutes
    for number in range(min(250, count)):
        die(number)
    before = resources(kernel)
    done = named = 0
    while done < count and time.monotonic() < end:
        named += die(done)
        done += 1
        if done % 1000 == 0:
            print(f"  after {done}: resident, threads, descriptors {resources(kernel)}", flush=True)
    after = resources(kernel)
    print(f"{done} deaths ({named} told of) in {time.monotonic() - begin:.0f} s: resident {before[0]} -> {after[0]} kB, "
          f"threads {before[1]} -> {after[1]}, descriptors {before[2]} -> {after[2]}", flush=True)
    socket.close()


def flood(kernel, count):
    code = f"from IPython.display import publish_display_data as p\nfor i in range({count}): p({{'text/plain': str(i)}})"
    begin = time.monotonic()
    asked = kernel.client.execute(code)
    seen = []
    while len(seen) < count:
        message = kernel.client.get_iopub_msg(timeout=300)
        if message["parent_header"].get("msg_id") == asked and message["msg_type"] == "display_data":
            seen.append(int(message["content"]["data"]["text/plain"]))
    order = "in order" if seen == list(range(count)) else "NOT IN ORDER"
    print(f"{len(seen)} of {count} outputs, {order}, {time.monotonic() - begin:.0f} s", flush=True)


def large_buffer(kernel, mib):
    kernel.run("from comm import create_comm; c = create_comm(target_name='t')")
    begin = time.monotonic()
    kernel.client.execute(f"b = bytes({mib} << 20); c.send(buffers=[b])")
    while True:
        message = kernel.client.get_iopub_msg(timeout=300)
        if message["msg_type"] == "comm_msg":
            break
    status = open(f"/proc/{kernel.pid}/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0]) >> 10
    print(f"buffer of {len(message['buffers'][0]) >> 20} MiB: {time.monotonic() - begin:.1f} s, the guard's peak {peak} MiB",
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deaths", type=int, default=10_000)
    parser.add_argument("--outputs", type=int, default=100_000)
    parser.add_argument("--buffer-mib", type=int, default=1024)
    parser.add_argument("--real", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        os.environ.update(JUPYTER_DATA_DIR=home + "/data", XDG_STATE_HOME=home + "/state", JUPYTER_RUNTIME_DIR=home)
        from guarded import BUILD, Kernel, write_spec

        write_spec(pathlib.Path(home) / "data", "guarded")
        write_spec(pathlib.Path(home) / "data", "mayfly", command=[str(BUILD / "bin" / "guard_mayfly"), "{connection_file}"])
        real = ["import os; os._exit(1)", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"]
        for wanted, name, test in (
                (options.outputs, "guarded", lambda k: flood(k, options.outputs)),
                (options.buffer_mib, "guarded", lambda k: large_buffer(k, options.buffer_mib)),
                (options.deaths, "mayfly", lambda k: many_deaths(k, options.deaths, options.minutes)),
                (options.real, "guarded", lambda k: many_deaths(k, options.real, options.minutes, real))):
            if not wanted:
                continue
            kernel = Kernel(name)
            test(kernel)
            kernel.close()


if __name__ == "__main__":
    main()
