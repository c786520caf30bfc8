"""Makes Python environments cheaply: uv links files from its cache, so a copy of TensorFlow costs no space.

Linked files are shared with every other environment: damage() and write() give a file a body of its own first.
"""

import base64
import glob
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys


class Tools:
    """The cache folder: uv itself, its downloads, and wheels of other platforms."""

    def __init__(self, cache):
        self.cache = pathlib.Path(cache).resolve()
        self.uv = self.cache / "tools/bin/uv"
        self.environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LD_", "VIRTUAL_ENV", "CONDA"))}
        self.environ.update(
            UV_CACHE_DIR=str(self.cache / "uv"), PYTHONDONTWRITEBYTECODE="1", TF_CPP_MIN_LOG_LEVEL="3", UV_LINK_MODE="hardlink"
        )

    def prepare(self):
        if not self.uv.exists():
            subprocess.run([sys.executable, "-m", "venv", self.cache / "tools"], check=True)
            subprocess.run([self.cache / "tools/bin/pip", "install", "-q", "uv"], check=True)

    def run_uv(self, *arguments):
        done = subprocess.run([str(self.uv), *map(str, arguments)], env=self.environ, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"uv {' '.join(map(str, arguments))}:\n{done.stderr}")
        return done.stdout

    def python(self, version):
        for pattern in (f"~/.pyenv/versions/{version}.*/bin/python{version}", f"/usr/bin/python{version}"):
            found = sorted(glob.glob(os.path.expanduser(pattern)))
            if found:
                return found[-1]
        self.run_uv("python", "install", version)
        return self.run_uv("python", "find", version).strip()


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


class Env:
    """A case's folder: env/ (the environment), notebooks/ (where the question is asked), home/."""

    def __init__(self, tools, root):
        self.tools, self.root = tools, pathlib.Path(root)
        shutil.rmtree(self.root, ignore_errors=True)
        self.home, self.cwd = self.root / "home", self.root / "notebooks"
        for folder in (self.home, self.cwd):
            folder.mkdir(parents=True)
        self.prefix, self.version, self.environ, self.args, self.asked = self.root / "env", "3.11", {}, [], None
        self.as_nobody = False

    # -- making ------------------------------------------------------------------------------------------------------

    def venv(self, version="3.11", pip=True, system=False, base=None, name="env"):
        self.version, self.prefix = version, self.root / name
        options = ["--seed"] * pip + ["--system-site-packages"] * system
        self.tools.run_uv("venv", "-q", "--clear", *options, "-p", base or self.tools.python(version), self.prefix)
        return self

    def prefix_copy(self, version="3.11"):
        """A whole Python of one's own, as conda or an installer would leave it, without packages but pip."""
        real = pathlib.Path(self.tools.python(version)).resolve().parent.parent
        ignore = shutil.ignore_patterns("test", "tests", "__pycache__", "*.a", "config-*", "idlelib", "site-packages")
        self.version = version
        shutil.copytree(real / "lib", self.prefix / "lib", symlinks=True, ignore=ignore, copy_function=link_or_copy)
        self.site.mkdir()
        (self.prefix / "bin").mkdir()
        link_or_copy(real / f"bin/python{version}", self.prefix / f"bin/python{version}")
        for name in ("python", "python3"):
            (self.prefix / "bin" / name).symlink_to(f"python{version}")
        return self.install("pip")

    def foreign(self, executable, version="3.11", home="/opt/homebrew/opt/python@3.11/bin"):
        """A virtual environment as copied from another machine: `executable` is what bin/python is made of."""
        self.version = version
        self.site.mkdir(parents=True)
        (self.prefix / "bin").mkdir()
        for name in ("python", "python3", f"python{version}"):
            self.write(self.prefix / "bin" / name, executable, 0o755)
        self.write(self.prefix / "pyvenv.cfg", f"home = {home}\ninclude-system-site-packages = false\nversion = {version}.9\n")
        return self

    @property
    def site(self):
        return self.prefix / f"lib/python{self.version}/site-packages"

    @property
    def python(self):
        return self.prefix / "bin/python"

    def install(self, *requirements, deps=True, to=None, version=None, platform=None):
        """pip install; `to` a folder, for another Python or platform (deps left out)."""
        if to or version or platform:
            options = [
                "--target",
                to or self.site,
                "--python-version",
                version or self.version,
                "--no-deps",
                "-p",
                self.tools.python("3.11"),
            ]
            options += ["--python-platform", platform] if platform else []
        else:
            options = ["-p", self.python, "--break-system-packages"] + ["--no-deps"] * (not deps)
        self.tools.run_uv("pip", "install", "-q", "--no-config", "--only-binary", ":all:", *options, *requirements)
        return self

    def uninstall(self, *names):
        self.tools.run_uv("pip", "uninstall", "-q", "-p", self.python, *names)
        return self

    # -- damaging ----------------------------------------------------------------------------------------------------

    def find(self, pattern, root=None):
        found = sorted((root or self.site).glob(pattern))
        if not found:
            raise RuntimeError(f"nothing matches {pattern}")
        return found[0]

    def write(self, path, text, mode=None):
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.exists():
            path.unlink()
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if mode:
            path.chmod(mode)
        return path

    def damage(self, path, change):
        """Rewrites a file with change(its bytes), leaving links to it elsewhere as they were."""
        mode = path.stat().st_mode
        return self.write(path, change(path.read_bytes()), mode & 0o777)

    def remove(self, pattern, root=None):
        for path in sorted((root or self.site).glob(pattern)):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def dist(self, name, version, requires=(), files=(), installer="pip", tag="py3-none-any"):
        """A package as pip would lay it out: files {path: bytes}, metadata, RECORD with hashes."""
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        module = name.replace("-", "_")
        everything = dict(files) or {f"{module}/__init__.py": f"__version__ = {version!r}\n"}
        everything[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(
            f"Requires-Dist: {r}\n" for r in requires
        )
        everything[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: bdist_wheel (0.42.0)\nRoot-Is-Purelib: true\nTag: {tag}\n"
        everything[f"{info}/INSTALLER"] = installer + "\n"
        everything[f"{info}/top_level.txt"] = module + "\n"
        record = []
        for path, body in everything.items():
            body = body if isinstance(body, bytes) else body.encode()
            self.write(self.site / path, body)
            digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(body)}")
        self.write(self.site / info / "RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
        return self

    def kernelspec(self, argv0, name="python3", **more):
        spec = {
            "argv": [str(argv0), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "Python 3",
            "language": "python",
            **more,
        }
        return self.write(self.prefix / f"share/jupyter/kernels/{name}/kernel.json", json.dumps(spec, indent=1))

    def model(self, name, body):
        self.args = [str(self.write(self.cwd / name, body))]

    def compile(self, source, output, *flags):
        output.parent.mkdir(parents=True, exist_ok=True)
        c = self.write(self.root / "c" / (output.name + ".c"), source)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", output, c, *map(str, flags)], check=True)
        return output

    # -- asking ------------------------------------------------------------------------------------------------------

    def variables(self):
        clean = {k: v for k, v in self.tools.environ.items() if not k.startswith(("UV_", "KERAS", "TF_USE", "JAX", "XLA"))}
        return {**clean, "HOME": str(self.home), **self.environ}

    def command(self, arguments):
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if self.as_nobody and os.geteuid() == 0 else []
        return [*drop, *map(str, arguments)]

    def run(self, arguments, timeout=600, **variables):
        try:
            return subprocess.run(
                self.command(arguments),
                cwd=self.cwd,
                env={**self.variables(), **variables},
                capture_output=True,
                text=True,
                timeout=timeout,
                errors="replace",
            )
        except (FileNotFoundError, PermissionError) as e:
            return subprocess.CompletedProcess(arguments, 127, "", str(e))

    def prove(self, proof):
        """Runs the proof, Python text or a function of the environment; (worked, its last words)."""
        compiled = {"PYTHONPYCACHEPREFIX": str(self.tools.cache / "pyc"), "PYTHONDONTWRITEBYTECODE": ""}
        done = proof(self) if callable(proof) else self.run([self.python, "-c", proof], **compiled)
        return done.returncode == 0, (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:200]
