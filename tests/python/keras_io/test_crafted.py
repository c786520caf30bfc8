"""Files made to make the reader fall: each ends in an Error, in little time and memory."""

import json
import pathlib
import resource
import shutil

import numpy as np
import pytest

from crafted_configs import HARMLESS, configs

CONFIGS = configs()
WHOLE = pathlib.Path(__file__).parents[2] / "golden/keras_files/keras3_chain.h5"


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_crafted_config_is_refused(tool, tmp_path, name):
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(CONFIGS[name]))
    try:
        tool.run("convert", path, tmp_path / "out.json", timeout=60, preexec_fn=limit_memory)
    except tool.Error:
        return
    assert name in HARMLESS


def external(h5py, group, name, shape):
    group.create_dataset(name, shape=shape, dtype="f4", external=[("/etc/passwd", 0, h5py.h5f.UNLIMITED)])


def virtual(h5py, group, name, shape):
    layout = h5py.VirtualLayout(shape=shape, dtype="f4")
    layout[...] = h5py.VirtualSource("other.h5", "x", shape=shape)
    group.create_virtual_dataset(name, layout)


def compound(h5py, group, name, shape):
    group.create_dataset(name, shape=shape, dtype=np.dtype([("a", "f4"), ("b", "i8")]))


@pytest.mark.parametrize("kind, said", [(external, "another file"), (virtual, "another file"), (compound, "a type that a tensor cannot have")])
def test_a_weight_that_is_no_array_of_this_file_is_refused(tool, tmp_path, kind, said):
    """libhdf5 gives zeros for values of a file that it cannot open."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "m.h5"
    shutil.copy(WHOLE, path)
    with h5py.File(path, "r+") as file:
        weights = []
        file["model_weights"].visititems(lambda name, item: weights.append(name) if isinstance(item, h5py.Dataset) else None)
        shape = file["model_weights"][weights[0]].shape
        del file["model_weights"][weights[0]]
        kind(h5py, file["model_weights"], weights[0], shape)
    with pytest.raises(tool.Error, match=said):
        tool.run("convert", path, tmp_path / "out.json")
