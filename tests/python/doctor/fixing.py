"""Applies the doctor's fixes to an environment, as a person would: pastes them into a shell, one after the other."""

import base64
import hashlib
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "doctor_cases"))

import safe_fix  # noqa: E402


def build_wheel(folder, name, version, files, requires=(), tag="py3-none-any", requires_python=None):
    """A wheel as a builder would make it."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *[f"Requires-Dist: {r}" for r in requires]]
    if requires_python:
        metadata.append(f"Requires-Python: {requires_python}")
    files = {**files, f"{info}/METADATA": "\n".join(metadata) + "\n",
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: {str(tag.endswith('any')).lower()}\nTag: {tag}\n"}
    rows = []
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{stem}-{tag}.whl", "w") as wheel:
        for path, data in files.items():
            data = data.encode() if isinstance(data, str) else data
            wheel.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(data)}")
        wheel.writestr(f"{info}/RECORD", "\n".join(rows + [f"{info}/RECORD,,"]) + "\n")


class Patient:
    """An environment with a real pip and a shop of wheels, and no way to the network."""

    def __init__(self, env, pip=True):
        self.env, self.shop = env, env.root / "shop of wheels"
        self.shop.mkdir()
        if pip:
            assert env.copy_installed("pip")

    @property
    def variables(self):
        tools = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.shop.as_uri(), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                 "UV_OFFLINE": "1", "UV_FIND_LINKS": str(self.shop), "UV_NO_INDEX": "1", "PATH": os.environ["PATH"]}
        return {**tools, **self.env.system["environment"]}

    def sells(self, name, version="1.0", files=None, **more):
        files = {f"{name.replace('-', '_')}/__init__.py": f"version = '{version}'\n"} if files is None else files
        build_wheel(self.shop, name, version, files, **more)

    def has(self, name, version="1.0", files=None, **more):
        """Installed, and for sale."""
        files = {f"{name.replace('-', '_')}/__init__.py": f"version = '{version}'\n"} if files is None else files
        self.sells(name, version, files, **more)
        self.env.package(name, version, files, **more)

    def shell(self, command):
        """Runs it in bash, if it is a command known to be harmless; variables it sets are set from then on."""
        refused = safe_fix.refusal(command, self.env.root, self.env.folder)
        if refused:
            return subprocess.CompletedProcess(command, 126, "", f"not run: {refused}")
        after = self.env.root / "variables"
        done = subprocess.run(["bash", "-c", f"set -e\n{command}\nenv -0 > {shlex.quote(str(after))}"], env=self.variables, cwd=self.env.folder,
                              capture_output=True, text=True, timeout=300)
        if done.returncode == 0:
            now = dict(pair.split("=", 1) for pair in after.read_text().split("\0") if "=" in pair)
            before = self.env.system["environment"]
            self.env.system["environment"] = {k: now[k] for k in before if k in now} | {
                k: v for k, v in now.items() if k.startswith(("KERAS", "PYTHON", "LD_", "PYTORCH", "TF_", "MKL")) and k not in before}
        return done

    def python(self, code):
        command = [str(self.env.prefix / "bin/python3"), "-c", code]
        try:
            return subprocess.run(command, env=self.variables, cwd=self.env.folder, capture_output=True, text=True, timeout=120)
        except FileNotFoundError as gone:
            return subprocess.CompletedProcess(command, 127, "", str(gone))


def above_note(diagnosis):
    return [f for f in diagnosis["findings"] if f["severity"] != "note"]


def treat(patient, program, imports):
    """Applies every fix once; None if the doctor then finds nothing and the import works, else what is wrong."""
    before = patient.python(f"import {imports}") if imports else None
    found = above_note(patient.env.examine(program)[1])
    if not found:
        return "the doctor finds nothing"
    said = "\n".join(f"{f['what']}\n  fix: {f['fix']}" for f in found)
    for fix in dict.fromkeys(f["fix"] for f in found):
        done = patient.shell(fix)
        if done.returncode:
            return f"{said}\nthe fix fails: {fix}\n{done.stdout[-800:]}{done.stderr[-800:]}"
    left = above_note(patient.env.examine(program)[1])
    if left:
        return f"{said}\nstill found: {[(f['what'], f['fix']) for f in left]}"
    if imports:
        after = patient.python(f"import {imports}")
        if after.returncode:
            return f"{said}\nimport {imports} fails: {after.stderr[-800:]}"
        if before.returncode == 0:
            return f"import {imports} worked before: this proves nothing"
    return None
