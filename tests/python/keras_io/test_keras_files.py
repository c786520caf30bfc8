"""Files of real Keras read here, and files of ours read by real Keras, made fresh at each run."""
import zipfile

import numpy as np
import pytest

keras = pytest.importorskip("keras")
h5py = pytest.importorskip("h5py")
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


def unused_input():
    a, b, c = keras.Input((4,), name="a"), keras.Input((3,), name="b"), keras.Input((2,), name="c")
    return keras.Model([b, a, c], [L.Dense(3)(a), c])


@pytest.fixture(params=[images, chain, two_inputs, unused_input], ids=lambda f: f.__name__)
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


def test_what_keras_saves_predicts_the_same_here(tool, model, tmp_path):
    xs = batch(model)
    # Keras 3 cannot read operations back from .h5 itself.
    for name in ("m.keras", "m.h5") if model.name == "chain" else ("m.keras",):
        model.save(tmp_path / name)
        assert_close(tool.predict(tmp_path / name, xs), predicted(model, xs))


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


o = keras.optimizers
OPTIMIZERS = {
    "adam": lambda: o.Adam(0.01),
    "adam_amsgrad_clipped": lambda: o.Adam(0.01, amsgrad=True, clipnorm=0.5),
    "sgd": lambda: o.SGD(0.05),
    "sgd_nesterov": lambda: o.SGD(0.05, momentum=0.9, nesterov=True),
    "sgd_ema": lambda: o.SGD(0.05, momentum=0.9, use_ema=True, ema_overwrite_frequency=4),
    "rmsprop": lambda: o.RMSprop(0.01),
    "rmsprop_centered": lambda: o.RMSprop(0.01, momentum=0.5, centered=True),
    "adamw_schedule": lambda: o.AdamW(o.schedules.ExponentialDecay(0.01, 10, 0.9), weight_decay=0.01),
    "adagrad": lambda: o.Adagrad(0.05),
    "adadelta": lambda: o.Adadelta(0.5),
    "adamax": lambda: o.Adamax(0.01),
    "nadam": lambda: o.Nadam(0.01),
    "ftrl": lambda: o.Ftrl(0.05),
    "lion": lambda: o.Lion(0.01),
    "adam_accumulating": lambda: o.Adam(0.01, gradient_accumulation_steps=2),
    "loss_scale": lambda: o.LossScaleOptimizer(o.Adam(0.01), initial_scale=8.0, dynamic_growth_steps=2),
    "loss_scale_schedule": lambda: o.LossScaleOptimizer(o.SGD(o.schedules.ExponentialDecay(0.01, 10, 0.9), momentum=0.5)),
}
SOME = ["adam", "sgd_ema", "rmsprop_centered", "adamw_schedule", "nadam", "loss_scale"]
trains = pytest.mark.skipif(keras.backend.backend() == "numpy", reason="needs a backend that trains")


class Run:
    """A small model, three steps into its training; go_on() makes the same further steps everywhere."""

    def __init__(self, optimizer):
        keras.utils.set_random_seed(5)
        random = np.random.default_rng(1)
        self.x = random.normal(size=(16, 8)).astype("float32")
        self.y = random.normal(size=(16, 2)).astype("float32")
        self.optimizer = optimizer
        self.model = self.fresh()
        self.go_on(self.model, 3)

    def fresh(self):
        model = chain()
        # An object: Keras 3.15 cannot load the .h5 that it writes for "mse".
        model.compile(optimizer=OPTIMIZERS[self.optimizer](), loss=keras.losses.MeanSquaredError(), metrics=["mae"])
        return model

    def go_on(self, model, steps):
        for _ in range(steps):
            model.train_on_batch(self.x, self.y)

    def assert_same(self, other):
        assert int(other.optimizer.iterations) == int(self.model.optimizer.iterations)
        assert_close(other.get_weights(), self.model.get_weights())
        assert_close([np.asarray(v) for v in other.optimizer.variables], [np.asarray(v) for v in self.model.optimizer.variables])


def state_in(path):
    """The optimizer's state of an .h5, in the order of the optimizer's variables."""
    with h5py.File(path) as file:
        group = file["optimizer_weights"]
        return [group[name][()] for name in group.attrs["weight_names"]]


@trains
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_training_goes_on_both_ways(tool, tmp_path, optimizer, suffix):
    run = Run(optimizer)
    run.model.save(tmp_path / f"m{suffix}")
    tool.fit(tmp_path / f"m{suffix}", [run.x], [run.y], tmp_path / "n.keras", 2)
    ours = keras.models.load_model(tmp_path / "n.keras")
    run.go_on(ours, 2)
    run.go_on(run.model, 4)
    run.assert_same(ours)


@pytest.fixture
def mixed_float16():
    keras.config.set_dtype_policy("mixed_float16")
    yield
    keras.config.set_dtype_policy("float32")


@trains
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_mixed_float16_goes_on_both_ways_with_the_scale_of_its_loss(tool, tmp_path, suffix, mixed_float16):
    """The scale overflows in the file's steps, in ours, and in Keras's afterwards, and is halved by each."""
    run = Run("adam")
    too_large = Run("adam")
    too_large.y = too_large.y * 30000
    too_large.go_on(run.model, 1)
    run.model.save(tmp_path / f"m{suffix}")
    tool.fit(tmp_path / f"m{suffix}", [run.x], [too_large.y], tmp_path / "n.keras", 2)
    tool.fit(tmp_path / "n.keras", [run.x], [run.y], tmp_path / "o.keras", 2)
    ours = keras.models.load_model(tmp_path / "o.keras")
    too_large.go_on(run.model, 2)
    run.go_on(run.model, 2)
    for model in (ours, run.model):
        too_large.go_on(model, 1)
        run.go_on(model, 1)
    assert float(ours.optimizer.dynamic_scale) == float(run.model.optimizer.dynamic_scale) == 2.0**11
    assert int(ours.optimizer.step_counter) == int(run.model.optimizer.step_counter) == 1
    assert int(ours.optimizer.iterations) == int(run.model.optimizer.iterations) == 6
    assert_close(ours.get_weights(), run.model.get_weights(), 5e-3)  # sums of float16 in another order


@trains
def test_a_functional_model_keeps_the_scale_of_its_loss(tool, tmp_path, mixed_float16):
    """Its config has no policy: in Keras the state of the LossScaleOptimizer is lost when it is loaded."""
    run = Run("adam")
    model = keras.Model(run.model.inputs, run.model.outputs)
    model.compile(optimizer="adam", loss=keras.losses.MeanSquaredError())
    run.go_on(model, 2)
    model.save(tmp_path / "m.keras")
    tool.fit(tmp_path / "m.keras", [run.x], [run.y * 30000], tmp_path / "n.keras", 1)
    with zipfile.ZipFile(tmp_path / "n.keras") as file:
        file.extract("model.weights.h5", tmp_path)
    with h5py.File(tmp_path / "model.weights.h5") as file:
        state = [file["optimizer/vars"][str(i)][()] for i in range(5)]
    assert state == [0, 0, 0, 2.0**14, 2]


@trains
def test_an_optimizer_with_a_loss_scale_that_has_made_no_step_goes_both_ways(tool, tmp_path, mixed_float16):
    fresh = Run("adam").fresh()
    fresh.save(tmp_path / "m.keras")
    tool.run("convert", tmp_path / "m.keras", tmp_path / "n.keras")
    ours = keras.models.load_model(tmp_path / "n.keras")
    assert isinstance(ours.optimizer, o.LossScaleOptimizer)
    assert ours.optimizer.initial_scale == 2.0**15
    assert float(ours.optimizer.learning_rate) == float(fresh.optimizer.learning_rate)


@trains
@pytest.mark.parametrize("optimizer", SOME)
def test_training_goes_on_from_weights_files(tool, tmp_path, optimizer):
    run = Run(optimizer)
    run.model.save_weights(tmp_path / "m.weights.h5")
    run.fresh().save(tmp_path / "fresh.keras")
    tool.run("weights", tmp_path / "fresh.keras", tmp_path / "m.weights.h5", tmp_path / "n.keras")
    tool.fit(tmp_path / "n.keras", [run.x], [run.y], tmp_path / "n.weights.h5", 2)
    ours = run.fresh()
    ours.optimizer.build(ours.trainable_variables)
    ours.load_weights(tmp_path / "n.weights.h5")
    run.go_on(ours, 2)
    run.go_on(run.model, 4)
    run.assert_same(ours)


@trains
@pytest.mark.parametrize("optimizer", SOME)
def test_an_h5_of_ours_holds_the_state_as_one_of_keras_does(tool, tmp_path, optimizer):
    run = Run(optimizer)
    run.model.save(tmp_path / "m.h5")
    tool.fit(tmp_path / "m.h5", [run.x], [run.y], tmp_path / "n.h5", 2)
    run.go_on(run.model, 2)
    run.model.save(tmp_path / "m.h5")
    assert_close(state_in(tmp_path / "n.h5"), state_in(tmp_path / "m.h5"))
    # Given to the optimizer by hand, training goes on (Keras does not do it itself: the next test).
    ours = run.fresh()
    ours.set_weights(keras.models.load_model(tmp_path / "n.h5", compile=False).get_weights())
    ours.optimizer.build(ours.trainable_variables)
    ours.optimizer.load_own_variables({str(i): v for i, v in enumerate(state_in(tmp_path / "n.h5"))})
    run.go_on(ours, 2)
    run.go_on(run.model, 2)
    run.assert_same(ours)


@trains
def test_an_h5_of_ours_trains_in_keras_as_one_of_keras_does(tool, tmp_path):
    """Keras 3.15 builds the optimizer of any .h5 for no variables: it then trains neither its own file nor ours."""
    run = Run("adam")
    run.model.save(tmp_path / "m.h5")
    tool.run("convert", tmp_path / "m.h5", tmp_path / "n.h5")
    outcomes = []
    for name in ("m.h5", "n.h5"):
        model = keras.models.load_model(tmp_path / name)
        try:
            run.go_on(model, 1)
            outcomes.append("trains")
        except Exception as e:
            outcomes.append(f"{type(e).__name__}: {e}")
        model.compile(optimizer="sgd", loss="mse")  # what helps there
        run.go_on(model, 1)
    assert outcomes[0] == outcomes[1]


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
