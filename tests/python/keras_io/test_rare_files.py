"""Files of kinds that few people save: LoRA in an .h5, shards, quantized layers, dicts of outputs, the hard_sigmoid of Keras 2."""
import json

import pytest

np = pytest.importorskip("numpy")
keras = pytest.importorskip("keras")
L, ops = keras.layers, keras.ops


def scrambled(model, seed=0):
    rng = np.random.default_rng(seed)
    for w in model.weights:
        w.assign(rng.normal(size=w.shape) * 0.5)
    return model


@pytest.mark.parametrize("kind", ("m.h5", "m.keras"))
@pytest.mark.parametrize("alpha", (None, 5))
def test_layers_with_lora(tool, tmp_path, kind, alpha):
    """An .h5 has the low-rank change beside the weight, a .keras their sum."""
    x = keras.Input((6,), dtype="int32")
    layers = L.Embedding(20, 8), L.Dense(6, activation="relu"), L.EinsumDense("abc,cd->abd", (None, 7))
    y = x
    for layer in layers:
        y = layer(y)
    model = keras.Model(x, L.Dense(2)(L.GlobalAveragePooling1D()(y)))
    for layer in layers:
        layer.enable_lora(3, lora_alpha=alpha)
    scrambled(model).save(tmp_path / kind)
    data = np.random.default_rng(1).integers(0, 20, (4, 6)).astype("int32")
    np.testing.assert_allclose(tool.predict(tmp_path / kind, [data])[0], model.predict(data, verbose=0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ("int8", "int4"))
def test_quantized_layers_are_refused_with_advice(tool, tmp_path, mode):
    model = keras.Sequential([keras.Input((8,)), L.Dense(4, name="small")])
    model.quantize(mode)
    model.save(tmp_path / "m.keras")
    with pytest.raises(tool.Error, match=rf"small.*quantized \({mode}.*before model.quantize\(\)"):
        tool.predict(tmp_path / "m.keras", [np.zeros((2, 8), "float32")])


def test_outputs_by_name_keep_their_names_and_losses(tool, tmp_path):
    x = keras.Input((4,))
    h = L.Dense(5, name="h")(x)
    model = keras.Model(x, {"price": L.Dense(1, name="a")(h), "kind": L.Dense(2, name="b")(h)})
    model.compile("sgd", {"kind": "mae", "price": "mse"}, loss_weights={"kind": 0.5, "price": 2.0})
    scrambled(model).save(tmp_path / "m.keras")
    tool.run("convert", tmp_path / "m.keras", tmp_path / "n.keras")
    again = keras.models.load_model(tmp_path / "n.keras")
    data = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    theirs, ours = model.predict(data, verbose=0), again.predict(data, verbose=0)
    assert set(ours) == {"price", "kind"}
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-6)
    y = {"price": np.ones((3, 1), "float32"), "kind": np.zeros((3, 2), "float32")}
    np.testing.assert_allclose(again.evaluate(data, y, verbose=0), model.evaluate(data, y, verbose=0), rtol=1e-5)


def test_the_hard_sigmoid_of_keras_2_opens_in_keras_3(tool, tmp_path):
    layers = [{"class_name": "InputLayer", "config": {"batch_input_shape": [None, 4, 3], "dtype": "float32", "name": "i"}},
              {"class_name": "LSTM", "config": {"name": "l", "units": 5, "recurrent_activation": "hard_sigmoid", "return_sequences": True}},
              {"class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "hard_sigmoid"}},
              {"class_name": "Activation", "config": {"name": "a", "activation": "hard_sigmoid"}}]
    (tmp_path / "m.json").write_text(json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": layers}, "keras_version": "2.3.1"}))
    tool.run("convert", tmp_path / "m.json", tmp_path / "m.keras")
    tool.run("convert", tmp_path / "m.keras", tmp_path / "n.keras")  # and is known again
    data = np.random.default_rng(0).normal(size=(3, 4, 3)).astype("float32") * 3
    ours = tool.predict(tmp_path / "m.keras", [data])[0]
    for name in ("m.keras", "n.keras"):
        np.testing.assert_allclose(keras.models.load_model(tmp_path / name).predict(data, verbose=0), ours, rtol=1e-5, atol=1e-6)
    assert ours.min() >= 0.5  # of 0 to 1 once more


def test_weights_in_shards(tool, tmp_path):
    model = scrambled(keras.Sequential([keras.Input((50,)), L.Dense(60), L.Dense(70), L.Dense(3)]))
    model.save_weights(tmp_path / "w.weights.json", max_shard_size=0.00002)
    assert len(list(tmp_path.glob("w_*.weights.h5"))) > 1
    fresh = keras.Sequential([keras.Input((50,)), L.Dense(60), L.Dense(70), L.Dense(3)])
    (tmp_path / "m.json").write_text(fresh.to_json())
    tool.run("weights", tmp_path / "m.json", tmp_path / "w.weights.json", tmp_path / "m.keras")
    data = np.random.default_rng(0).normal(size=(2, 50)).astype("float32")
    np.testing.assert_allclose(tool.predict(tmp_path / "m.keras", [data])[0], model.predict(data, verbose=0), rtol=1e-4, atol=1e-5)
    listed = json.loads((tmp_path / "w.weights.json").read_text())
    listed["weight_map"] = {name: ["../" + files[0]] for name, files in listed["weight_map"].items()}
    (tmp_path / "x.weights.json").write_text(json.dumps(listed))
    with pytest.raises(tool.Error, match="names of files beside it"):
        tool.run("weights", tmp_path / "m.json", tmp_path / "x.weights.json", tmp_path / "m.keras")
