"""Files of real Keras read here, and files of ours read by real Keras, made fresh at each run."""
import numpy as np
import pytest

keras = pytest.importorskip("keras")
L = keras.layers


def listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def images():
    i = keras.Input((16, 16, 3))
    x = L.Conv2D(4, 3, padding="same", activation="relu")(i)
    x = L.BatchNormalization()(x)
    x = L.Add()([x, L.DepthwiseConv2D(3, padding="same")(x)])
    x = L.GlobalAveragePooling2D()(L.MaxPooling2D()(x))
    inner = keras.Sequential([keras.Input((4,)), L.Dense(5, activation="gelu"), L.Dropout(0.5)], name="inner")
    x = inner(x) * 0.5 + 1.0
    return keras.Model(i, [L.Dense(3, activation="softmax")(x), x[:, 1:3]])


def chain():
    return keras.Sequential([keras.Input((8,)), L.Dense(6, activation="relu"), L.Dense(2)], name="chain")


def two_inputs():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    shared = L.Dense(3, name="shared")
    return keras.Model([a, b], L.Concatenate()([shared(a), shared(b), L.Multiply()([shared(a), shared(b)])]))


@pytest.fixture(params=[images, chain, two_inputs], ids=lambda f: f.__name__)
def model(request):
    keras.utils.set_random_seed(3)
    return request.param()


def batch(model):
    random = np.random.default_rng(0)
    return [random.normal(size=(5, *x.shape[1:])).astype("float32") for x in model.inputs]


def predicted(model, xs):
    return [np.asarray(y) for y in listed(model.predict(xs if len(xs) > 1 else xs[0], verbose=0))]


def assert_close(got, want, tolerance=1e-5):
    assert len(got) == len(want)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_what_keras_saves_predicts_the_same_here(tool, model, tmp_path, suffix):
    if suffix == ".h5" and model.name != "chain":
        pytest.skip("Keras 3 cannot read operations back from .h5 itself")
    xs = batch(model)
    model.save(tmp_path / f"m{suffix}")
    assert_close(tool.predict(tmp_path / f"m{suffix}", xs), predicted(model, xs))


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_what_is_saved_here_predicts_the_same_in_keras(tool, model, tmp_path, suffix):
    xs = batch(model)
    model.save(tmp_path / "m.keras")
    tool.run("convert", tmp_path / "m.keras", tmp_path / f"n{suffix}")
    assert_close(predicted(keras.models.load_model(tmp_path / f"n{suffix}"), xs), predicted(model, xs))


def test_weights_go_both_ways(tool, model, tmp_path):
    xs = batch(model)
    want = predicted(model, xs)
    model.save(tmp_path / "m.keras")
    model.save_weights(tmp_path / "m.weights.h5")
    model.set_weights([np.zeros_like(w) for w in model.get_weights()])
    model.save(tmp_path / "zero.keras")
    tool.run("weights", tmp_path / "zero.keras", tmp_path / "m.weights.h5", tmp_path / "n.weights.h5")
    model.load_weights(tmp_path / "n.weights.h5")
    assert_close(predicted(model, xs), want)


def test_the_architecture_alone_goes_both_ways(tool, model, tmp_path):
    (tmp_path / "m.json").write_text(model.to_json())
    tool.run("convert", tmp_path / "m.json", tmp_path / "n.json")
    again = keras.models.model_from_json((tmp_path / "n.json").read_text())
    assert [w.shape for w in again.weights] == [w.shape for w in model.weights]
    assert [l.name for l in again.layers] == [l.name for l in model.layers]


def optimizers():
    o = keras.optimizers
    return {
        "adam": o.Adam(0.01),
        "sgd": o.SGD(0.05, momentum=0.9, nesterov=True),
        "rmsprop": o.RMSprop(0.01),
        "adamw_schedule": o.AdamW(o.schedules.ExponentialDecay(0.01, 10, 0.9), weight_decay=0.01),
    }


@pytest.mark.skipif(keras.backend.backend() == "numpy", reason="needs a backend that trains")
@pytest.mark.parametrize("name", optimizers())
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_training_goes_on_both_ways(tool, tmp_path, name, suffix):
    keras.utils.set_random_seed(5)
    random = np.random.default_rng(1)
    x, y = random.normal(size=(16, 8)).astype("float32"), random.normal(size=(16, 2)).astype("float32")
    model = chain()
    model.compile(optimizer=optimizers()[name], loss="mse", metrics=["mae"])
    for _ in range(3):
        model.train_on_batch(x, y)
    model.save(tmp_path / f"m{suffix}")
    # Back in a .keras: Keras 3.15 builds the optimizer of an .h5 for no variables, so that training cannot go on from one there.
    tool.fit(tmp_path / f"m{suffix}", [x], [y], tmp_path / "n.keras", 2)
    ours = keras.models.load_model(tmp_path / "n.keras")
    for m in (model, model, ours):
        m.train_on_batch(x, y)
    model.train_on_batch(x, y)
    assert int(ours.optimizer.iterations) == int(model.optimizer.iterations) == 6
    assert_close(ours.get_weights(), model.get_weights())


@pytest.mark.parametrize("name", ["MobileNetV2", "MobileNetV3Small"])
def test_applications_predict_the_same(tool, tmp_path, name):
    keras.utils.set_random_seed(2)
    model = getattr(keras.applications, name)(weights=None, input_shape=(32, 32, 3), classes=10)
    xs = batch(model)
    model.save(tmp_path / "m.keras")
    assert_close(tool.predict(tmp_path / "m.keras", xs), predicted(model, xs), 1e-4)


def test_a_lambda_is_refused_by_name(tool, tmp_path):
    keras.config.enable_unsafe_deserialization()
    i = keras.Input((3,))
    keras.Model(i, L.Lambda(lambda x: x * 2, name="twice")(i)).save(tmp_path / "m.keras")
    with pytest.raises(Exception, match="twice.*Lambda"):
        tool.run("convert", tmp_path / "m.keras", tmp_path / "n.keras")
