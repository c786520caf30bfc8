"""Makes small Python environments out of nothing: packages with metadata, native modules compiled from a
line of C, libraries patched for other machines, Mach-O files written by hand."""

import base64
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path

PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
MACHINE = platform.machine()
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")  # .cpython-311-x86_64-linux-gnu.so
TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
GIB = 1 << 30

X86_V3 = ("fpu sse sse2 pni ssse3 sse4_1 sse4_2 popcnt cx16 lahf_lm avx avx2 bmi1 bmi2 f16c fma abm movbe "
          "xsave").split()


def healthy_system(home):
    """Readings of a machine with nothing wrong, as `plimsoll doctor --json` gives them."""
    return {
        "os": "linux", "machine": MACHINE, "cpu_features": X86_V3 if MACHINE == "x86_64" else ["asimd"],
        "memory_total": 16 * GIB, "memory_available": 12 * GIB, "swap_total": 4 * GIB,
        "limits": {"nofile": 1024, "stack": 8 << 20},
        "disks": [{"what": what, "path": path, "total": 100 * GIB, "free": 50 * GIB}
                  for what, path in [("environment", "/env"), ("home", "/home"), ("temporary files", "/tmp")]]
        + [{"what": "/dev/shm", "path": "/dev/shm", "total": 8 * GIB, "free": 8 * GIB}],
        "environment": {"HOME": str(home)},
    }


@functools.lru_cache(maxsize=None)
def compile_library(source, flags=()):
    """The bytes of a shared library made from C source."""
    folder = Path(os.environ["PLIMSOLL_DOCTOR_CACHE"])
    key = hashlib.sha256(repr((source, flags)).encode()).hexdigest()[:16]
    out = folder / f"{key}.so"
    if not out.exists():
        c_file = folder / f"{key}.c"
        c_file.write_text(source)
        subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-nostartfiles", str(c_file), "-o", str(out), *flags],
                       check=True, capture_output=True)
    return out.read_bytes()


def module_source(name, body=""):
    return f"{body}\nvoid* PyInit_{name}(void) {{ return 0; }}\n"


def working_module(name, body="", flags=()):
    """A native module that can really be imported: PyModuleDef as CPython lays it out, without its headers."""
    source = f"""{body}
static struct {{ long count; void *type, *init; long index; void* copy; const char *name, *doc; long size; void* rest[5]; }}
    definition = {{1, 0, 0, 0, 0, "{name}", 0, -1, {{0}}}};
void* PyModule_Create2(void*, int);
void* PyInit_{name}(void) {{ return PyModule_Create2(&definition, 1013); }}
"""
    return library(source, flags=flags)


def library(source, soname=None, flags=()):
    return compile_library(source, tuple(flags) + ((f"-Wl,-soname,{soname}",) if soname else ()))


def module(name, body="", flags=()):
    return library(module_source(name, body), flags=flags)


def patch_machine(binary, machine=None):
    """The same ELF file for another processor."""
    other = {62: 183, 183: 62}.get(struct.unpack_from("<H", binary, 18)[0], 62)
    return binary[:18] + struct.pack("<H", machine or other) + binary[20:]


CPU = {"x86_64": 0x01000007, "arm64": 0x0100000C}


def macho(cpu, dylibs=(), defined=(), undefined=(), rpaths=()):
    """One architecture of a Mach-O library; `undefined` holds (symbol, number of the dylib, from 1)."""
    def padded(text, head):
        data = text.encode() + b"\0"
        return data + b"\0" * (-(head + len(data)) % 8)

    commands = []
    for name in dylibs:
        text = padded(name, 24)
        commands.append(struct.pack("<IIIIII", 0xC, 24 + len(text), 24, 0, 0, 0) + text)
    for path in rpaths:
        text = padded(path, 12)
        commands.append(struct.pack("<III", 0x8000001C, 12 + len(text), 12) + text)
    strings, symbols = b"\0", b""
    for name in defined:
        symbols += struct.pack("<IBBHQ", len(strings), 0x0F, 1, 0, 0x1000)
        strings += name.encode() + b"\0"
    for name, number in undefined:
        symbols += struct.pack("<IBBHQ", len(strings), 0x01, 0, number << 8, 0)
        strings += name.encode() + b"\0"
    at = 32 + sum(map(len, commands)) + 24
    commands.append(struct.pack("<IIIIII", 2, 24, at, len(symbols) // 16, at + len(symbols), len(strings)))
    header = struct.pack("<IIIIIIII", 0xFEEDFACF, CPU[cpu], 0, 6, len(commands), sum(map(len, commands)), 0, 0)
    return header + b"".join(commands) + symbols + strings


def universal(*slices):
    head, body, at = struct.pack(">II", 0xCAFEBABE, len(slices)), b"", 4096
    for one in slices:
        head += struct.pack(">IIIII", struct.unpack_from("<I", one, 4)[0], 0, at + len(body), len(one), 12)
        body += one
    return head.ljust(4096, b"\0") + body


class Environment:
    """A virtual environment below `root`, beside a home folder and the readings of its machine."""

    def __init__(self, root):
        self.root = Path(root)
        self.prefix = self.root / "env"
        self.home = self.root / "home"
        self.site = self.prefix / "lib" / PYTHON / "site-packages"
        self.site.mkdir(parents=True)
        (self.prefix / "bin").mkdir()
        self.home.mkdir()
        self.system = healthy_system(self.home)
        self.arguments = []
        self.folder = self.root / "notebooks"
        self.folder.mkdir()
        base = Path(os.path.realpath(sys.executable))
        (self.prefix / "bin/python3").symlink_to(base)
        (self.prefix / "pyvenv.cfg").write_text(
            f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {platform.python_version()}\n")

    def setenv(self, **variables):
        self.system["environment"].update(variables)

    def write(self, path, data=""):
        target = self.site / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
        return target

    def package(self, name, version="1.0", files=None, requires=(), tag="py3-none-any", requires_python=None,
                record=True, folder=None):
        """Installs a package as pip would: files, METADATA, WHEEL, RECORD."""
        files = {f"{name.replace('-', '_')}/__init__.py": "x = 1\n"} if files is None else dict(files)
        info = folder or f"{name.replace('-', '_')}-{version}.dist-info"
        metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        metadata += [f"Requires-Dist: {r}" for r in requires]
        if requires_python:
            metadata.append(f"Requires-Python: {requires_python}")
        files[f"{info}/METADATA"] = "\n".join(metadata) + "\n\nText.\n"
        files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nTag: {tag}\n"
        rows = []
        for path, data in files.items():
            data = data.encode() if isinstance(data, str) else data
            self.write(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(data)}")
        if record:
            self.write(f"{info}/RECORD", "\n".join(rows + [f"{info}/RECORD,,"]) + "\n")
        return self.site / info

    def copy_installed(self, *names):
        """Links real packages of the running interpreter, files and metadata. False if one is not there."""
        import importlib.metadata as metadata
        for name in names:
            try:
                distribution = metadata.distribution(name)
            except metadata.PackageNotFoundError:
                return False
            for file in distribution.files or ():
                source = Path(distribution.locate_file(file))
                target = (self.site / str(file)).resolve()
                # Programs name the interpreter they were installed for.
                if self.site not in target.parents or not source.is_file():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(source, target)
                except OSError:
                    shutil.copy(source, target)
        return True

    def become_macos(self, *cpus, apple_silicon=True):
        """Turns it into an environment on a Mac: the interpreter is a Mach-O file."""
        slices = [macho(cpu) for cpu in cpus]
        python = self.prefix / "bin/python3"
        python.unlink()
        python.write_bytes(slices[0] if len(slices) == 1 else universal(*slices))
        config = self.prefix / "pyvenv.cfg"
        config.write_text(re.sub("home = .*", "home = /opt/homebrew/bin", config.read_text()))
        self.system.update(os="darwin", machine="arm64" if apple_silicon else "x86_64", cpu_features=[],
                           apple_silicon=apple_silicon)

    def examine(self, program):
        """Runs the doctor; returns its exit status and what it found."""
        readings = self.root / "system.json"
        readings.write_text(json.dumps({"system": self.system}))
        done = subprocess.run([str(program), "doctor", "--json", "--env", str(self.prefix), "--system", str(readings),
                               *self.arguments], capture_output=True, text=True, timeout=120, cwd=self.folder)
        if done.returncode not in (0, 1, 2) or not done.stdout:
            raise RuntimeError(f"doctor ended with {done.returncode}: {done.stderr}")
        return done.returncode, json.loads(done.stdout)
