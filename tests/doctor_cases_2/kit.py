"""What the cases are made of: virtual environments of real wheels (installed by uv, hard-linked from one cache), files damaged in them, and
the proof: the command that a user would run, with the words of the error that it really gives."""

import dataclasses
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(os.environ.get("DOCTOR_CASES", "/tmp/doctor_cases_2"))
UV = os.environ.get("DOCTOR_CASES_UV", "uv")
PYTHONS = os.environ.get("DOCTOR_CASES_PYTHONS", os.path.expanduser("~/.pyenv/versions/{}*/bin/python3"))
CASES = {}


@dataclasses.dataclass
class Case:
    """words: each must be found (a regular expression, any case) in the first finding. fix: what a right fix does, for the reader.
    error: found in what the probe prints. made: wheels or hand. proved: False where this system cannot run it (macOS)."""

    name: str
    make: object
    broken: bool
    words: list = dataclasses.field(default_factory=list)
    fix: str = ""
    error: str = ""
    made: str = "wheels"
    proved: bool = True


def broken(words, fix, error="", made="wheels", proved=True):
    def add(make):
        CASES[make.__name__] = Case(make.__name__, make, True, words, fix, error, made, proved)
        return make

    return add


def healthy(made="wheels", proved=True):
    def add(make):
        CASES[make.__name__] = Case(make.__name__, make, False, made=made, proved=proved)
        return make

    return add


def interpreter(version):
    found = sorted(pathlib.Path("/").glob(PYTHONS.format(version).lstrip("/")))
    assert found, f"no Python {version} at {PYTHONS}"
    return found[0]


class Env:
    """One environment, with the folder a notebook would run in (cwd), a home of its own, and variables."""

    def __init__(self, place, python="3.11", pip=True, folder="env", uv_made=False, system_site=False):
        shutil.rmtree(place, ignore_errors=True)
        self.place, self.python = place, python
        self.path, self.home, self.cwd = place / folder, place / "home", place / "work"
        for each in (self.home, self.cwd):
            each.mkdir(parents=True)
        self.variables, self.arguments, self.code, self.shell = {}, [], "", ""
        base = python if "/" in python else interpreter(python)
        if uv_made:
            subprocess.run([UV, "venv", "-q", "--python", base, self.path], check=True)
        else:
            subprocess.run([base, "-m", "venv", "--without-pip", *(["--system-site-packages"] if system_site else []), self.path], check=True)
        self.bin = self.path / "bin"
        self.site = next((self.path / "lib").glob("python3*/site-packages"))
        if pip and not uv_made:
            self.install("pip==26.0")

    def uv(self, *arguments, variables=None):
        subprocess.run([UV, "pip", *arguments], check=True, env=os.environ | (variables or {}))

    def install(self, *wanted, deps=False, target=None, more=()):
        where = ["--target", target] if target else ["--python", self.bin / "python"]
        self.uv("install", "-q", *where, *([] if deps else ["--no-deps"]), *more, *wanted)

    def remove(self, *projects):
        self.uv("uninstall", "-q", "--python", self.bin / "python", *projects)

    def foreign(self, platform, *wanted, version=None, target=None, deps=False):
        """Wheels for another system, as a copied folder of packages brings them."""
        self.install(*wanted, target=target or self.site, deps=deps, more=["--python-platform", platform, "--only-binary", ":all:", *(["--python-version", version] if version else [])])

    def own(self, path):
        """A copy of the file that may be changed: others are links into the cache."""
        path = self.site / path
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
        return path

    def cut(self, path, share=0.6):
        path = self.own(path)
        os.truncate(path, int(path.stat().st_size * share))
        return path

    def write(self, path, text="", base=None):
        path = pathlib.Path(base or self.site) / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)
        return path

    def distribution(self, name, version, files, requires=()):
        """A project made by hand: {path: text or bytes}."""
        info = f"{name}-{version}.dist-info"
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires)
        for path, data in files.items():
            self.write(path)
            (self.site / path).write_bytes(data if isinstance(data, bytes) else data.encode())
        self.write(f"{info}/METADATA", head)
        self.write(f"{info}/INSTALLER", "pip\n")
        self.write(f"{info}/RECORD", "".join(f"{p},,\n" for p in [*files, f"{info}/METADATA", f"{info}/INSTALLER", f"{info}/RECORD"]))

    def environment(self):
        keep = {k: os.environ[k] for k in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "UV_CACHE_DIR", "PIP_INDEX_URL") if k in os.environ}
        return {"PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", "TF_CPP_MIN_LOG_LEVEL": "2",
                "CUDA_VISIBLE_DEVICES": "", **keep, **self.variables}

    def probe(self, code="", shell=""):
        """Python run as a notebook in cwd would be (its folder first on the path), or a line of shell."""
        self.code, self.shell = code, shell
        return self

    def command(self):
        if self.shell:
            return ["bash", "-c", self.shell]
        return [str(self.bin / "python"), "-c", self.code]
