import json
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")

PROGRAM = pathlib.Path(os.environ.get("PLIMSOLL", pathlib.Path(__file__).parents[3] / "build/bin/plimsoll"))

YAML = """\
input: [4]
layers:
  - Dense: {units: 8, activation: relu}
  - Dropout: 0.2
  - Dense: 3
  - Softmax
"""

TWO_INPUTS = {
    "class_name": "Functional",
    "config": {
        "name": "two",
        "layers": [
            {"class_name": "InputLayer", "name": "left", "config": {"batch_shape": [None, 3], "dtype": "float32", "name": "left"}, "inbound_nodes": []},
            {"class_name": "InputLayer", "name": "right", "config": {"batch_shape": [None, 3], "dtype": "float32", "name": "right"}, "inbound_nodes": []},
            {"class_name": "Subtract", "name": "difference", "config": {"name": "difference"}, "inbound_nodes": [[["left", 0, 0, {}], ["right", 0, 0, {}]]]},
        ],
        "input_layers": [["left", 0, 0], ["right", 0, 0]],
        "output_layers": [["difference", 0, 0]],
    },
}


class Done:
    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def events(self):
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def json(self):
        return json.loads(self.out)


class Place:
    """A folder with a model, data in every kind of file, and the program run in it."""

    def __init__(self, folder):
        self.folder = folder
        random = np.random.default_rng(0)
        self.x = random.normal(size=(200, 4)).astype("float32")
        self.y = (self.x[:, 0] > 0).astype("int32") + (self.x[:, 1] > 0)
        (folder / "m.yaml").write_text(YAML)
        (folder / "two.json").write_text(json.dumps(TWO_INPUTS))
        np.savez(folder / "d.npz", x=self.x, y=self.y)
        np.save(folder / "x.npy", self.x)
        np.save(folder / "y.npy", self.y)
        rows = [",".join(map(repr, map(float, row))) + f",{label}\n" for row, label in zip(self.x, self.y)]
        (folder / "d.csv").write_text("a,b,c,d,label\n" + "".join(rows))
        (folder / "x.csv").write_text("a,b,c,d\n" + "".join(row.rsplit(",", 1)[0] + "\n" for row in rows))

    def __truediv__(self, name):
        return self.folder / name

    def command(self, *arguments):
        return [str(PROGRAM), *map(str, arguments)]

    def try_run(self, *arguments):
        return Done(subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True, timeout=120))

    def run(self, *arguments):
        done = self.try_run(*arguments)
        assert done.status == 0, done.err
        return done

    def refused(self, *arguments, status=1):
        """What it says on standard error."""
        done = self.try_run(*arguments)
        assert done.status == status, (done.status, done.out, done.err)
        return done.err

    def train(self, model="m.yaml", *more, data=("--data", "d.npz")):
        loss = () if str(model).endswith((".keras", ".h5")) else ("--loss", "sparse_categorical_crossentropy", "--metrics", "accuracy")
        return self.run("train", model, *data, *loss, *more)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def place(tmp_path):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    return Place(tmp_path)


@pytest.fixture
def trained(place):
    place.train("m.yaml", "--seed", 1, "--epochs", 2, "--save", "m.keras")
    return place
