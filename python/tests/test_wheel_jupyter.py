"""One line of Jupyter's configuration puts the guard before every kernel, and the server, its clients and monitors notice nothing else."""
import json
import pathlib


def test_every_kernel_of_a_server_is_guarded(place, tmp_path):
    env = {name: value for name, value in place.env.items() if name != "KERAS_BACKEND"} | {"JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    place.run("plimsoll", "kernel", "install", env=env)
    script = str(pathlib.Path(__file__).with_name("guarded_server.py"))
    seen = json.loads(place.run("python", script, str(tmp_path), str(tmp_path / "runtime"), env=env).splitlines()[-1])
    assert seen["guards"] == "1" and seen["guards of a guarded twin"] == "1"
    assert seen["backend"] == "None"  # a server with the provisioner does not choose the kernels' backend
    assert seen["over"] == "MemoryError" and seen["after"] == "42"
    assert seen["usage"]["pid"] == int(seen["pid"]) and seen["usage"]["kernel_memory"] > 0
    assert seen["monitor"]["content"]["pid"] == int(seen["pid"]) and seen["monitor"]["content"]["kernel_memory"] > 0
    assert seen["interrupted"] == "KeyboardInterrupt"
    assert seen["restarted"] == "False new"
