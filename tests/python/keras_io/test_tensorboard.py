"""The event files of our TensorBoard callback, read by TensorFlow, against what Keras's callbacks are given in the same run. The
names are those of keras/src/callbacks/tensorboard.py, which itself needs the package tensorboard to write them."""

import pathlib

import numpy as np
import pytest


def scalars(folder):
    """{(part, tag): {step: value}}, and the JSON of the model."""
    tf = pytest.importorskip("tensorflow")
    found, model = {}, None
    for file in sorted(pathlib.Path(folder).rglob("events.out.tfevents.*")):
        for record in tf.data.TFRecordDataset(str(file)):  # checks lengths and checksums
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                tensor = tf.make_ndarray(value.tensor)
                if value.metadata.plugin_data.plugin_name == "graph_keras_model":
                    model = tensor.item()
                elif value.metadata.plugin_data.plugin_name == "scalars":
                    found.setdefault((file.parent.name, value.tag), {})[event.step] = float(tensor)
    return found, model


def test_event_files_are_keras(tool, tmp_path):
    keras = pytest.importorskip("keras")
    pytest.importorskip("tensorflow")
    random = np.random.default_rng(3)
    x, y = random.normal(size=(16, 3)).astype("float32"), random.normal(size=(16, 1)).astype("float32")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    model.save(tmp_path / "m.keras")
    np.savez(tmp_path / "in.npz", x0=x, y0=y)
    tool.run("board", tmp_path / "m.keras", tmp_path / "in.npz", tmp_path / "ours")
    ours, graph = scalars(tmp_path / "ours")
    assert b"Sequential" in graph

    batches, tests = {}, []
    record = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: batches.update({len(batches) + 1: dict(logs)}))
    record.on_test_end = lambda logs: tests.append((int(model.optimizer.iterations.numpy()), dict(logs)))
    history = model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False, validation_split=0.25, callbacks=[record]).history
    want = {("train", "epoch_learning_rate"): {0: 0.1, 1: 0.1}}
    for name, values in history.items():
        part = ("validation", "epoch_" + name[4:]) if name.startswith("val_") else ("train", "epoch_" + name)
        want[part] = dict(enumerate(values))
    for name in ("loss", "mae"):
        want["train", "batch_" + name] = {step: logs[name] for step, logs in batches.items() if step % 2 == 0}
        want["validation", f"evaluation_{name}_vs_iterations"] = {step: logs[name] for step, logs in tests}
    assert set(ours) == set(want)
    for key, values in want.items():
        assert ours[key] == pytest.approx(values, rel=1e-4), key
