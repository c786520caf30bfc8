"""The recipe of docs/hubs.md, in a real JupyterHub: every kernel guarded, a line per user, reports in one place."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_recipe_for_hubs(place, tmp_path):
    env = {name: value for name, value in place.env.items() if name != "KERAS_BACKEND"} | {"PYTHONPATH": str(ROOT / "python/tests")}
    words = ["python", str(ROOT / "python/tests/guarded_hub.py"), str(tmp_path), str(ROOT / "docs/hubs.md")]
    seen = json.loads(place.run(*words, env=env).splitlines()[-1])
    for name in ("teaching", "ada"):
        assert seen[name]["guards"] == "1", seen
        assert seen[name]["died"] == "KernelDied" and seen[name]["after"] == "42", seen
        assert seen[name]["causes"] == ["segfault"], seen
    assert seen["teaching"]["three GiB"] == "MemoryError"  # its line is 2 GiB
    assert seen["ada"]["three GiB"] == "taken"  # 16 GiB
