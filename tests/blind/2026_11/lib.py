"""Environments of the cases: making, breaking, proving. Nothing here knows how the doctor works."""
import dataclasses, hashlib, json, os, pathlib, re, shutil, subprocess, zipfile

ROOT = pathlib.Path(os.environ.get("BLIND_ROOT", "/tmp/blind/2026_11"))
PYTHONS = pathlib.Path(os.environ.get("BLIND_PYTHONS", os.path.expanduser("~/.pyenv/versions")))
UV = os.environ.get("BLIND_UV", str(ROOT / "tools/bin/uv"))
CASES = {}


@dataclasses.dataclass
class Case:
    name: str
    build: object
    kind: str
    url: str
    proof: object          # code for the environment's Python, or argv
    error: str             # what the proof must print when it fails ("" for healthy cases)
    cause: str             # a right finding says this (loose, on the meaning)
    fix: str               # in words: which kinds of fix would be right
    fix_text: str = ""     # regex on the fix where it cannot be applied here
    apply: bool = False    # the fix is run; then the proof must pass and the doctor find no error
    real: bool = True      # real wheels, proved by running
    healthy: bool = False
    py: str = "3.11"
    env: dict = dataclasses.field(default_factory=dict)
    wrap: list = dataclasses.field(default_factory=list)   # put before proof and doctor
    target: str = ""       # the file the doctor is asked about
    after: object = None   # the proof after the fix, if not the same
    level: str = "error"   # the least severity that counts
    asked_for: str = ""    # "undocumented": the doctor does not claim this

    def __post_init__(self):
        self.root = ROOT / "envs" / self.name
        self.dir, self.work, self.home = self.root / "venv", self.root / "work", self.root / "home"
        self.python = self.dir / "bin/python"
        self.site = self.dir / f"lib/python{self.py}/site-packages"

    def fill(self, text):
        return (text.replace("{env}", str(self.dir)).replace("{work}", str(self.work)).replace("{site}", str(self.site))
                .replace("{home}", str(self.home)).replace("{root}", str(self.root)).replace("{blind}", str(ROOT)))

    def environ(self):
        e = {k: v for k, v in os.environ.items() if re.match(r"LANG$|LC_|TZ$|TERM$|SSL_CERT|PIP_|.*_proxy$", k, re.I)}
        e |= {"HOME": str(self.home), "PATH": f"{self.dir}/bin:/usr/local/bin:/usr/bin:/bin", "VIRTUAL_ENV": str(self.dir),
              "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""}
        for k, v in self.env.items():
            if v is None:
                e.pop(k, None)
            else:
                e[k] = self.fill(v)
        return e

    # ---- making
    def venv(self, *options, base=None):
        base = base or next(PYTHONS.glob(self.py + ".*")) / "bin/python"
        run([base, "-m", "venv", "--without-pip", *options, self.dir])
        self.install("pip==24.2", *(["setuptools==65.5.1"] if self.py in ("3.8", "3.9", "3.10", "3.11") else []))

    def install(self, *what, deps=True, to=None, options=()):
        at = ["--target", str(to)] if to else []
        run([UV, "pip", "install", "-q", "--python", self.python, *at, *([] if deps else ["--no-deps"]), *options, *what],
            env=os.environ | {"UV_CACHE_DIR": str(ROOT / "uvcache"), "UV_LINK_MODE": "hardlink"})
        for site in [pathlib.Path(to)] if to else [self.site]:
            for f in site.glob("*.dist-info/INSTALLER"):     # as pip writes it
                if f.read_text() != "pip\n":
                    rewrite(f, b"pip\n")
                    record = f.parent / "RECORD"
                    if record.exists():
                        digest = "sha256=zuuue4knoyJ-UwPPXg8fezS7VCrXJQrAP7zeNuwvFQg"
                        rewrite(record, re.sub(r"(?m)^(.*/INSTALLER),.*$", rf"\1,{digest},4", record.read_text()).encode())

    def wheel(self, spec, platform=None, python=None, abi=None):
        """Downloads one wheel, without its requirements."""
        to = ROOT / "wheels"
        options = [] if platform is None else ["--platform", platform, "--only-binary=:all:", "--python-version", python or self.py]
        out = run([ROOT / "tools/bin/pip", "download", "-q", "--no-deps", "-d", to / re.sub(r"\W", "_", spec + str(platform) + str(python)), *options, spec])
        return next((to / re.sub(r"\W", "_", spec + str(platform) + str(python))).glob("*.whl"))

    def unpack(self, wheel, to=None, skip=None):
        with zipfile.ZipFile(wheel) as z:
            for n in z.namelist():
                if not (skip and re.search(skip, n)):
                    pathlib.Path(to or self.site, n).unlink(missing_ok=True) if not n.endswith("/") else None   # it may be a hard link into uv's cache
                    z.extract(n, to or self.site)

    def dist(self, name, version, files=(), requires=(), to=None):
        """A made-up distribution, with RECORD and all."""
        site = pathlib.Path(to or self.site)
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires))
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: bdist_wheel (0.42.0)\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        (info / "INSTALLER").write_text("pip\n")
        (info / "RECORD").write_text("".join(record_line(site, site / f) for f in files) +
                                     "".join(f"{info.name}/{n},,\n" for n in ("METADATA", "WHEEL", "INSTALLER", "RECORD")))

    def write(self, path, text):
        p = pathlib.Path(self.fill(str(path)))
        p.parent.mkdir(parents=True, exist_ok=True)
        rewrite(p, text if isinstance(text, bytes) else self.fill(text).encode())
        return p

    def kernel(self, name="python3", argv=None, **more):
        return self.write(f"{{env}}/share/jupyter/kernels/{name}/kernel.json", json.dumps(
            {"argv": argv or ["{env}/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3 (ipykernel)",
             "language": "python", **more}, indent=1))

    def make(self):
        shutil.rmtree(self.root, ignore_errors=True)
        for d in (self.work, self.home):
            d.mkdir(parents=True)
        self.build(self)
        self.work.mkdir(exist_ok=True)

    # ---- proving
    def prove(self, proof=None, timeout=240):
        """(failed, what it said)"""
        p = proof or self.proof
        argv = [str(self.python), "-c", self.fill(p)] if isinstance(p, str) else [self.fill(str(a)) for a in p]
        try:
            r = subprocess.run([*map(self.fill, self.wrap), *argv], cwd=self.work, env=self.environ(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
        except OSError as e:
            return True, str(e)
        except subprocess.TimeoutExpired:
            return True, "timeout"
        text = r.stdout.decode(errors="replace").replace(str(self.root), "~")   # the name of the case is no evidence
        return r.returncode != 0, text[-3000:] + (f"\n[signal {-r.returncode}]" if r.returncode < 0 else f"\n[status {r.returncode}]")


def run(argv, **kw):
    r = subprocess.run([str(a) for a in argv], capture_output=True, text=True, **kw)
    if r.returncode:
        raise RuntimeError(f"{argv}: {r.stdout[-500:]}{r.stderr[-1500:]}")
    return r.stdout


def rewrite(path, data):
    """Writes a file anew: hard links to the cache stay as they are."""
    mode = path.stat().st_mode if path.exists() else 0o644
    if path.exists() or path.is_symlink():
        path.unlink()
    path.write_bytes(data)
    path.chmod(mode & 0o777)


def record_line(site, path):
    import base64
    d = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
    return f"{path.relative_to(site)},sha256={d},{path.stat().st_size}\n"


def broken(url, **kw):
    def made(f):
        CASES[f.__name__] = Case(name=f.__name__, build=f, kind=f.__module__.removeprefix("env_"), url=url, **kw)
        return f
    return made


def healthy(**kw):
    def made(f):
        CASES[f.__name__] = Case(name=f.__name__, build=f, kind="healthy", url="", error="", cause="", fix="", healthy=True, **kw)
        return f
    return made
