"""Files of Keras's whose parts lie inside other parts: layers as activations, models of several inputs, cells, wrapped metrics."""
import json
import pathlib
import shutil
import zipfile

import pytest

np = pytest.importorskip("numpy")
keras = pytest.importorskip("keras")
L = keras.layers
GOLDEN = pathlib.Path(__file__).parents[2] / "golden/keras_files"


def numbers(*shape):
    return np.random.default_rng(5).normal(size=shape).astype("float32")


def two_inputs_by_list():
    a, b = keras.Input((3,)), keras.Input((3,))
    inner = keras.Model([a, b], [L.Add()([a, b]), L.Dense(2)(b)])
    x, y = keras.Input((3,)), keras.Input((3,))
    u, v = inner([x, y])
    return keras.Model([x, y], [v, *inner([y, u])]), [numbers(4, 3), numbers(4, 3) * 2]


def two_inputs_by_name():
    a, b = keras.Input((3,), name="p"), keras.Input((3,), name="q")
    inner = keras.Model({"p": a, "q": b}, {"s": L.Add()([a, b]), "d": L.Dense(2)(b)})
    x, y = keras.Input((3,)), keras.Input((3,))
    parts = inner({"p": x, "q": y})
    return keras.Model([x, y], [parts["d"], parts["s"]]), [numbers(4, 3), numbers(4, 3) * 2]


def layers_as_activations():
    x = keras.Input((5, 4))
    ys = [L.Dense(3, activation=L.LeakyReLU(0.1))(x), L.Conv1D(2, 1, activation=L.ReLU(max_value=0.5, negative_slope=0.2))(x),
          L.Activation(L.ELU(0.7))(x), L.Dense(3, activation=L.Softmax(axis=1))(x)]
    return keras.Model(x, ys), [numbers(2, 5, 4)]


def one_number_for_each():
    x = keras.Input((4,))
    return keras.Model(x, L.Reshape(())(L.Dense(1)(x))), [numbers(3, 4)]


@pytest.mark.parametrize("make", [two_inputs_by_list, two_inputs_by_name, layers_as_activations, one_number_for_each])
@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_predicts_the_same_and_so_does_what_is_saved_here(tool, tmp_path, make, suffix):
    model, xs = make()
    if make is two_inputs_by_name and suffix == "h5":
        suffix = "keras"  # Keras cannot read its own
    wanted = keras.tree.flatten(model(xs if len(xs) > 1 else xs[0]))
    model.save(tmp_path / f"theirs.{suffix}")
    tool.run("convert", tmp_path / f"theirs.{suffix}", tmp_path / "ours.keras")
    for path in (tmp_path / f"theirs.{suffix}", tmp_path / "ours.keras"):
        for ours, theirs in zip(tool.predict(path, xs), wanted, strict=True):
            np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-5, atol=1e-5)
    again = keras.models.load_model(tmp_path / "ours.keras")
    for ours, theirs in zip(keras.tree.flatten(again(xs if len(xs) > 1 else xs[0])), wanted, strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5, atol=1e-5)


def test_a_layer_with_weights_is_no_activation(tool, tmp_path):
    keras.Sequential([keras.Input((3,)), L.Dense(2, activation=L.PReLU(), name="d")]).save(tmp_path / "m.keras")
    with pytest.raises(tool.Error, match="without weights such as LeakyReLU, got a PReLU"):
        tool.run("convert", tmp_path / "m.keras", tmp_path / "out.keras")


def test_low_rank_changes_are_in_the_weights(tool, tmp_path):
    dense = L.Dense(3)
    model = keras.Sequential([keras.Input((4,)), dense])
    dense.enable_lora(2)
    dense.lora_kernel_b.assign(numbers(2, 3))
    x = numbers(5, 4)
    wanted = np.asarray(model(x))
    model.save(tmp_path / "m.keras")
    np.testing.assert_allclose(tool.predict(tmp_path / "m.keras", [x])[0], wanted, rtol=1e-5, atol=1e-5)


def test_a_class_of_the_writers_own_is_named(tool, tmp_path):
    (tmp_path / "m.json").write_text('{"class_name": "MyNet", "config": {"width": 3}, "registered_name": "mine>MyNet"}')
    with pytest.raises(tool.Error, match="of the class MyNet.*load_weights"):
        tool.run("convert", tmp_path / "m.json", tmp_path / "out.json")


@pytest.mark.parametrize("layers", ["[1, 2]", '[{"class_name": "InputLayer", "config": {"batch_shape": [null, -6]}}]',
                                    '[{"class_name": "Lambda", "config": {"name": "twice"}}]'])
def test_the_message_begins_with_the_file(tool, tmp_path, layers):
    path = tmp_path / "m.json"
    path.write_text('{"class_name": "Sequential", "config": {"name": "s", "layers": %s}}' % layers)
    with pytest.raises(tool.Error, match=r"\[\S*m.json\] "):
        tool.run("convert", path, tmp_path / "out.json")


def test_cells_of_tf_keras_lose_the_arguments_that_keras_3_has_not(tool, tmp_path):
    cells = [{"class_name": "LSTMCell", "config": {"name": "a", "trainable": True, "dtype": "float32", "units": 3, "implementation": 2}},
             {"class_name": "GRUCell", "config": {"name": "b", "trainable": True, "dtype": "float32", "units": 2, "implementation": 2, "reset_after": False}}]
    stacked = {"class_name": "StackedRNNCells", "config": {"name": "both", "trainable": True, "dtype": "float32", "cells": cells}}
    rnn = {"name": "rnn", "trainable": True, "dtype": "float32", "return_sequences": False, "return_state": False, "go_backwards": False,
           "stateful": False, "unroll": False, "time_major": False, "batch_input_shape": [None, 6, 4], "cell": stacked}
    model = {"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "RNN", "config": rnn}]},
             "keras_version": "2.15.0", "backend": "tensorflow"}
    (tmp_path / "m.json").write_text(json.dumps(model))
    tool.run("convert", tmp_path / "m.json", tmp_path / "out.json")
    again = keras.models.model_from_json((tmp_path / "out.json").read_text())
    assert [type(cell).__name__ for cell in again.layers[0].cell.cells] == ["LSTMCell", "GRUCell"]


def test_a_wrapped_metric_and_an_old_loss_scale_are_taken_over(tool, tmp_path):
    h5py = pytest.importorskip("h5py")
    shutil.copy(GOLDEN / "tf212_chain.h5", tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5", "r+") as file:
        config = {"loss": "mse", "metrics": [[{"class_name": "MeanMetricWrapper", "config": {"name": "some_out_mae", "fn": "mean_absolute_error"}},
                                              {"class_name": "MeanMetricWrapper", "config": {"name": "mine", "fn": "mean_squared_error"}}]],
                  "optimizer_config": {"class_name": "LossScaleOptimizerV3", "config": {
                      "inner_optimizer": {"class_name": "Custom>Adam", "config": {"name": "Adam", "learning_rate": 0.01, "jit_compile": False}},
                      "dynamic": True, "initial_scale": 1024.0, "dynamic_growth_steps": 2000}}}
        file.attrs["training_config"] = json.dumps(config)
    tool.run("convert", tmp_path / "m.h5", tmp_path / "out.keras")
    with zipfile.ZipFile(tmp_path / "out.keras") as archive:
        compiled = json.loads(archive.read("config.json"))["compile_config"]
    assert compiled["optimizer"]["class_name"] == "LossScaleOptimizer"
    assert compiled["optimizer"]["config"]["inner_optimizer"]["config"]["learning_rate"] == pytest.approx(0.01)
    assert [metric["class_name"] for metric in compiled["metrics"][0]] == ["MeanAbsoluteError", "MeanSquaredError"]
