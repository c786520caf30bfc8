"""Environments that are odd rather than broken: the doctor always ends with a report or a clear sentence, whatever lies there,
and is not held up by it. Every environment is asked three ways: as text, as JSON, and with a model file."""

import json
import os
import random
import resource
import shutil
import socket
import subprocess

import maker
import pytest

CASES = []
MOST_SECONDS = 20  # of processor time, at which the doctor is ended: far above what it takes, on any machine


def odd(function):
    CASES.append(function)
    return function


def sparse(path, size, head=b""):
    """A file of that size which takes no room."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head)
    os.truncate(path, size)


@odd
def loops_of_links(env):
    (env.site / "loop").symlink_to(env.site)
    (env.site / "itself").symlink_to("itself")
    (env.site / "a.so").symlink_to("b.so")
    (env.site / "b.so").symlink_to("a.so")
    (env.site / "ring-1.0.dist-info").symlink_to("ring-1.0.dist-info")
    (env.folder / "numpy").symlink_to(env.folder)


@odd
def names_that_are_not_text(env):
    for name in (b"caf\xe9.py", b"\xff\xfe-1.0.dist-info", b"\xe9\xe8.pth", b"x\ny.so", b"~\x80umpy", b" ", b"-rf", b"$(id).pth", b"\x1b[31m.pyc"):
        path = os.fsencode(env.site) + b"/" + name
        if name.endswith(b"info"):
            os.mkdir(path)
            path += b"/METADATA"
        with open(path, "wb") as file:
            file.write(b"Name: \xff\xfe\nVersion: \x80\n/\xe9/\xe8\nimport \xff\n")
    env.package("numpy", "2.1.0")
    record = env.site / "numpy-2.1.0.dist-info/RECORD"
    record.write_bytes(record.read_bytes() + b"caf\xe9/\xff.py,sha256=\xff,\xff\n\"unclosed,,\n,,,,,,\n")


@odd
def no_files_but_pipes_and_sockets(env):
    env.package("numpy", "2.1.0")
    for path in ("numpy/core.so", "numpy/util.py", "pipe.pth", "pipe.dist-info", "numpy-2.1.0.dist-info/WHEEL"):
        (env.site / path).unlink(missing_ok=True)
        os.mkfifo(env.site / path)
    (env.prefix / "share/jupyter/kernels/pipe").mkdir(parents=True)
    os.mkfifo(env.prefix / "share/jupyter/kernels/pipe/kernel.json")
    os.mkfifo(env.folder / "numpy.py")
    (env.home / ".keras").mkdir()
    os.mkfifo(env.home / ".keras/keras.json")
    here = os.getcwd()
    os.chdir(env.site)  # the name of a socket must be short
    socket.socket(socket.AF_UNIX).bind("socket.so")
    os.chdir(here)
    (env.site / "zero.so").symlink_to("/dev/zero")
    (env.site / "random.py").symlink_to("/dev/urandom")


@odd
def folders_in_the_place_of_files(env):
    env.package("numpy", "2.1.0")
    for path in ("numpy-2.1.0.dist-info/METADATA", "numpy-2.1.0.dist-info/RECORD", "numpy/__init__.py"):
        (env.site / path).unlink()
        (env.site / path).mkdir()
    (env.site / "folder.pth").mkdir()
    (env.site / "folder.so").mkdir()
    (env.prefix / "pyvenv.cfg").unlink()
    (env.prefix / "pyvenv.cfg").mkdir()


@odd
def nothing_at_all(env):
    shutil.rmtree(env.prefix / "lib")


@odd
def an_empty_folder(env):
    shutil.rmtree(env.prefix)
    env.prefix.mkdir()


@odd
def nothing_may_be_read(env):
    env.package("numpy", "2.1.0")
    env.package("keras", "3.4.1", requires=["numpy"])
    (env.site / "numpy").chmod(0)
    (env.site / "keras-3.4.1.dist-info").chmod(0)
    (env.site / "keras/__init__.py").chmod(0)
    env.write("secret.pth", "/x\n").chmod(0)
    (env.prefix / "bin").chmod(0)


@odd
def the_site_folder_may_not_be_entered(env):
    env.package("numpy", "2.1.0")
    env.site.chmod(0)


@odd
def a_very_deep_folder(env):
    folder = env.site
    for _ in range(150):
        folder = folder / "deeper"
    folder.mkdir(parents=True)
    (folder / "x.so").write_bytes(b"\x7fELF")


@odd
def noise_for_metadata(env):
    noise = random.Random(7)
    for i in range(60):
        info = env.site / f"noise{i}-{i}.0.dist-info"
        info.mkdir()
        for name in ("METADATA", "RECORD", "WHEEL", "direct_url.json"):
            (info / name).write_bytes(noise.randbytes(2000) if i % 2 else b'{"url": 3, "dir_info": []}' * (i % 3))
        env.write(f"noise{i}.so", b"\x7fELF\x02\x01\x01" + noise.randbytes(3000))
        env.write(f"noise{i}.pth", noise.randbytes(300))
        env.write(f"mach{i}.so", b"\xcf\xfa\xed\xfe" + noise.randbytes(3000))
        env.write(f"noise{i}.py", b"(" * 5000 + noise.randbytes(300))


@odd
def requirements_in_a_circle(env):
    env.package("a", requires=["b>1", "a[x]>2", "c; extra == 'x'"])
    env.package("b", requires=["a<1", "b"])


@odd
def an_interpreter_that_is_a_loop(env):
    (env.prefix / "bin/python3").unlink()
    (env.prefix / "bin/python3").symlink_to("python3")


@odd
def variables_with_signs_in_them(env):
    env.package("keras", "3.4.1")
    env.setenv(KERAS_BACKEND="\x01\x7f", PYTHONPATH=":::/nowhere:\x01", LD_LIBRARY_PATH="$ORIGIN:::", HOME="")


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def command_of(program, env, *more):
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 and shutil.which("setpriv") else []
    (env.root / "system.json").write_text(json.dumps({"system": env.system}))
    return [*nobody, program, "doctor", "--env", env.prefix, "--system", env.root / "system.json", *more]


def open_to_all(path):
    """Temporary folders are closed to others; nobody has to get as far as the environment."""
    while len(path.parts) > 2:
        path.chmod(path.stat().st_mode | 0o755)
        path = path.parent


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_an_odd_environment_gets_an_answer(case, tmp_path, program):
    env = maker.Environment(tmp_path / "odd")
    open_to_all(env.root)
    case(env)
    model = env.root / "model.h5"
    sparse(model, 5 << 30, b"\x89HDF\r\n\x1a\n")
    try:
        for more in ([], ["--json"], [str(model)]):
            done = subprocess.run(command_of(program, env, *more), cwd=env.folder, capture_output=True, preexec_fn=limits, timeout=600)
            assert done.returncode in (0, 1, 2, 3), done.stderr[-500:]
            assert (done.returncode == 3) == (not done.stdout), done.stderr[-500:]
            if done.returncode == 3:
                assert done.stderr.count(b"\n") == 1 and b"[doctor]" in done.stderr
            elif more == ["--json"]:
                assert json.loads(done.stdout)["status"] == done.returncode
    finally:
        for folder in (env.site, env.prefix / "bin", env.site / "numpy", env.site / "keras-3.4.1.dist-info"):
            if folder.exists() and not folder.is_symlink():
                folder.chmod(0o755)


def test_a_folder_that_is_gone_is_no_obstacle(tmp_path, program):
    env = maker.Environment(tmp_path / "env")
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = f'cd "$1" && rmdir "$1" && shift && exec "$@"'
    done = subprocess.run(["bash", "-c", shell, "bash", gone, program, "doctor", "--env", env.prefix], capture_output=True, text=True)
    assert done.returncode in (0, 1, 2) and env.prefix.name in done.stdout, done.stderr


def test_variables_that_are_no_text_do_not_spoil_the_json(tmp_path, program):
    env = maker.Environment(tmp_path / "env")
    variables = {os.fsencode(k): os.fsencode(v) for k, v in os.environ.items()} | {b"KERAS_BACKEND": b"\xff\xfe", b"PYTHONPATH": b"/caf\xe9"}
    done = subprocess.run([program, "doctor", "--json", "--env", env.prefix], env=variables, capture_output=True)
    assert json.loads(done.stdout)["system"]["environment"]["KERAS_BACKEND"], done.stderr


def test_a_read_only_environment_is_read(tmp_path, program):
    env = maker.Environment(tmp_path / "env")
    env.package("numpy", "2.1.0", requires=["nothing-like-it"])
    for folder, _, _ in os.walk(env.prefix):
        os.chmod(folder, 0o555)
    try:
        status, diagnosis = env.examine(program)
        assert status == 2 and "nothing-like-it" in json.dumps(diagnosis)
    finally:
        for folder, _, _ in os.walk(env.prefix):
            os.chmod(folder, 0o755)
