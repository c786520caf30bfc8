"""What many deaths leave behind in the guard, whether a flood of outputs arrives whole and in order, and how a large
buffer passes.

    python bench/guard_endurance.py [--deaths 10000] [--outputs 100000] [--buffer-mib 1024] [--minutes 10]

The deaths are those of a program that ends at once, so that what is measured is the guard. --minutes bounds them.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python" / "guard"))


def resources(kernel):
    """Anonymous resident kB, threads and open descriptors of the guard."""
    status = open(f"/proc/{kernel.pid}/status").read()
    rss, threads = (int(status.split(key)[1].split()[0]) for key in ("RssAnon:", "Threads:"))
    return rss, threads, len(os.listdir(f"/proc/{kernel.pid}/fd"))


def many_deaths(kernel, count, minutes):
    end = time.monotonic() + 60 * minutes
    for _ in range(50):
        kernel.run("1")
    before = resources(kernel)
    done = named = 0
    while done < count and time.monotonic() < end:
        named += kernel.run("1")["content"].get("ename") == "KernelDied"
        done += 1
    after = resources(kernel)
    print(f"{done} deaths ({named} told of): resident {before[0]} -> {after[0]} kB, threads {before[1]} -> {after[1]}, "
          f"descriptors {before[2]} -> {after[2]}", flush=True)


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
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        os.environ.update(JUPYTER_DATA_DIR=home + "/data", XDG_STATE_HOME=home + "/state", JUPYTER_RUNTIME_DIR=home)
        from guarded import Kernel, write_spec

        write_spec(pathlib.Path(home) / "data", "guarded")
        write_spec(pathlib.Path(home) / "data", "mayfly", command=["/bin/false", "{connection_file}"])
        for name, test in (("guarded", lambda k: flood(k, options.outputs)),
                           ("guarded", lambda k: large_buffer(k, options.buffer_mib)),
                           ("mayfly", lambda k: many_deaths(k, options.deaths, options.minutes))):
            kernel = Kernel(name)
            test(kernel)
            kernel.close()


if __name__ == "__main__":
    main()
