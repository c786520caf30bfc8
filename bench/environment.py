"""Where the benchmark runs: the repository, the peers' Python and what it has, the machine."""
import json
import os
import pathlib
import platform
import re
import subprocess
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def peers_python():
    """The interpreter of the peers' environment, which is made if there is none. PLIMSOLL_PEERS names another environment, or
    an interpreter that has some of the peers."""
    home = pathlib.Path(os.environ.get("PLIMSOLL_PEERS", ROOT / ".venv-peers"))
    python = home if home.is_file() else home / "bin" / "python"
    if not python.exists():
        print(f"installing the peers into {home} (7 GB, some minutes)", flush=True)
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements-peers.txt"], check=True)
    return str(python)


def installed(python):
    """{package: version} of the peers' environment."""
    script = ("import importlib.metadata as m, json, sys\n"
              "found = {d.metadata['Name'].lower().replace('_', '-'): d.version for d in m.distributions()}\n"
              "found['python'] = sys.version.split()[0]\n"
              "print(json.dumps(found))")
    found = json.loads(subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout)
    if "tensorflow-cpu" in found:
        found["tensorflow"] = found["tensorflow-cpu"]
    return {name: found[name] for name in ("python", "torch", "jax", "tensorflow", "keras", "numpy") if name in found}


def gpu_name():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()


def machine_name(device="cpu"):
    """Processor, how many of them, and the vector instructions that matter; of another device its name and driver."""
    if device != "cpu":
        return gpu_name()
    info = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    fields = {key: (re.search(rf"^{key}\s*: (.*)", info, re.MULTILINE) or ["", ""])[1]
              for key in ("model name", "cpu family", "model", "flags")}
    name = fields["model name"] or platform.processor() or platform.machine()
    family = f" (family {fields['cpu family']}, model {fields['model']})" if fields["cpu family"] else ""
    flags = fields["flags"].split()
    vectors = next((v for f, v in (("avx512_bf16", "AVX-512 with bf16"), ("avx512f", "AVX-512"), ("avx2", "AVX2")) if f in flags), "")
    return f"{name}{family}, {os.cpu_count()} cores" + (f", {vectors}" if vectors else "")
