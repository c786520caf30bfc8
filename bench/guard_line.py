"""How a kernel fares over its memory line: real frameworks, a training step that needs more than the line allows,
then a small step in the same kernel. Prints one line per trial and a summary.

    python bench/guard_line.py [--frameworks numpy,torch,tensorflow,jax] [--factors 1.2,1.5,2] [--trials 1]
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUARD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build")) / "bin" / "plimsoll-guard"

KERAS = """
import os
os.environ["KERAS_BACKEND"] = "{backend}"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np, keras
def model(width):
    m = keras.Sequential([keras.Input((100, 100, 3)), keras.layers.Conv2D(width, 3, activation="relu"),
                          keras.layers.Conv2D(width, 3, activation="relu"), keras.layers.GlobalAveragePooling2D(),
                          keras.layers.Dense(2)])
    m.compile("sgd", "mse")
    return m
def fit(batch, width):
    x = np.zeros((batch, 100, 100, 3), "float32")
    h = model(width).fit(x, np.zeros((batch, 2), "float32"), batch_size=batch, epochs=1, verbose=0)
    return float(h.history["loss"][0])
fit(2, 2)
"""
FRAMEWORKS = {
    "numpy": ("import numpy as np\ndef fit(batch, width):\n    x = [np.ones((batch, 100, 100, width), 'float32') for _ in range(4)]\n"
              "    return float(sum(a.mean() for a in x))\nfit(2, 2)", "fit({batch}, 32)", "fit(2, 4)"),
    "torch": ("import torch\ndef fit(batch, width):\n    m = torch.nn.Sequential(torch.nn.Conv2d(3, width, 3), torch.nn.ReLU(), "
              "torch.nn.Conv2d(width, width, 3), torch.nn.AdaptiveAvgPool2d(1))\n    m(torch.zeros(batch, 3, 100, 100)).mean().backward()\n"
              "    return float(m[0].weight.grad.sum())\nfit(2, 2)", "fit({batch}, 32)", "fit(2, 4)"),
    "tensorflow": (KERAS.format(backend="tensorflow"), "fit({batch}, 32)", "fit(2, 4)"),
    "jax": (KERAS.format(backend="jax"), "fit({batch}, 32)", "fit(2, 4)"),
}


class Kernel:
    def __init__(self, folder, line):
        from jupyter_client.manager import start_new_kernel

        argv = [str(GUARD), "-f", "{connection_file}", "--language", "python", "--memory", str(line), "--",
                sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = folder / "kernels" / "line" / "kernel.json"
        spec.parent.mkdir(parents=True, exist_ok=True)
        spec.write_text(json.dumps({"argv": argv, "display_name": "line", "language": "python"}))
        self.manager, self.client = start_new_kernel(kernel_name="line", startup_timeout=60)

    def run(self, code, timeout=300):
        texts = []

        def hook(message):
            content = message["content"]
            texts.append(content.get("text") or content.get("data", {}).get("text/plain") or content.get("evalue") or "")

        reply = self.client.execute_interactive(code, output_hook=hook, timeout=timeout)["content"]
        return reply, "".join(texts)

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def resident_after_import(folder, setup):
    kernel = Kernel(folder, 64 << 30)
    reply, text = kernel.run(setup + "\nprint('resident', int(open('/proc/self/statm').read().split()[1]) * 4096)")
    kernel.close()
    if reply["status"] != "ok":
        raise SystemExit(f"cannot set up: {reply['ename']}: {reply['evalue']}")
    return int(text.split("resident ")[1].split()[0])


def trial(folder, framework, line):
    setup, large, small = FRAMEWORKS[framework]
    kernel = Kernel(folder, line)
    try:
        if kernel.run(setup)[0]["status"] != "ok":
            return "setup failed"
        batch = max(8, int(line * 1.5 / (100 * 100 * 32 * 4 * 2)))
        reply, text = kernel.run(large.format(batch=batch))
        if reply["status"] == "error" and reply["ename"] == "KernelDied":
            return "died, explained as the line" if "memory line" in reply["evalue"] or "out of memory" in reply["evalue"] else "died: " + reply["evalue"]
        outcome = reply.get("ename", "no error") + (" (refusal told)" if "was refused" in text else "")
        after = kernel.run(small)[0]
        return f"{outcome}; small step after: {after['status']}" + ("" if after["status"] == "ok" else " " + after["evalue"][:200])
    finally:
        kernel.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frameworks", default="numpy,torch,tensorflow,jax")
    parser.add_argument("--factors", default="1.2,1.5,2")
    parser.add_argument("--trials", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["JUPYTER_DATA_DIR"] = name
        os.environ["XDG_STATE_HOME"] = name
        for framework in options.frameworks.split(","):
            base = resident_after_import(folder, FRAMEWORKS[framework][0])
            saved = total = 0
            for factor in map(float, options.factors.split(",")):
                for _ in range(options.trials):
                    begin = time.monotonic()
                    result = trial(folder, framework, int(base * factor))
                    total += 1
                    saved += result.endswith("after: ok")
                    print(f"{framework:<11} line {base * factor / 2**20:6.0f} MiB = {factor} x resident: {result} "
                          f"({time.monotonic() - begin:.0f} s)", flush=True)
            print(f"{framework:<11} goes on in the same kernel: {saved} of {total}", flush=True)


if __name__ == "__main__":
    main()
