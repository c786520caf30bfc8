"""What of `import keras` is ours, on the backend plimsoll: seconds (our modules' own time, by -X importtime) and MiB (resident, of the
extension and of our modules as they are imported). Run it with a Python that has Keras: PYTHONPATH=python .venv/bin/python bench/import_share.py
"""
import os
import re
import subprocess
import sys

OURS = re.compile(r"^(keras_plimsoll|plimsoll|keras_plimsoll_bootstrap)(\.|$)")

# Resident size before and after each of our modules, less what others that are imported meanwhile take.
RESIDENT = """
import builtins, re, sys
def resident():
    return int(open('/proc/self/statm').read().split()[1]) * 4096
ours, taken, stack, real = re.compile(sys.argv[1]), 0, [], builtins.__import__
class Loader:
    def __init__(self, loader): self.loader = loader
    def __getattr__(self, name): return getattr(self.loader, name)
    def create_module(self, spec): return self.measured(lambda: self.loader.create_module(spec), spec.name)
    def exec_module(self, module): self.measured(lambda: self.loader.exec_module(module), module.__name__)
    def measured(self, run, name):
        global taken
        begin = resident()
        stack.append(0)
        try: return run()
        finally:
            used, inner = resident() - begin, stack.pop()
            if stack: stack[-1] += used
            if ours.match(name): taken += used - inner
class Finder:
    busy = False
    def find_spec(self, name, path=None, target=None):
        for finder in sys.meta_path:
            spec = None if finder is self or not hasattr(finder, 'find_spec') else finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, 'exec_module'): spec.loader = Loader(spec.loader)
                return spec
sys.meta_path.insert(0, Finder())
import keras
print(taken / 2**20, resident() / 2**20)
"""


def main():
    environment = os.environ | {"KERAS_BACKEND": "plimsoll"}
    listed = subprocess.run([sys.executable, "-X", "importtime", "-c", "import keras_plimsoll_bootstrap, keras"], env=environment,
                            capture_output=True, text=True, check=True).stderr
    lines = [line.split("|") for line in listed.splitlines() if line.startswith("import time:") and "[us]" not in line]
    own = {fields[2].strip(): int(fields[0].split(":")[1]) for fields in lines}
    seconds = sum(us for name, us in own.items() if OURS.match(name)) / 1e6
    ours, all_of_it = map(float, subprocess.run([sys.executable, "-c", "import keras_plimsoll_bootstrap\n" + RESIDENT, OURS.pattern],
                                                env=environment, capture_output=True, text=True, check=True).stdout.split())
    print(f"ours of `import keras`: {seconds:.3f} s of {sum(own.values()) / 1e6:.3f} s, {ours:.1f} MiB of {all_of_it:.1f} MiB resident")


if __name__ == "__main__":
    main()
