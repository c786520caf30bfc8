"""fit, evaluate and predict on arrays, which run natively many batches at a time: what users see of it is as in Keras."""
import importlib.util
import pathlib
import sys
import threading

import h5py
import keras
import numpy as np
import pandas
import pytest
from keras import layers, ops


def small(loss="mse", **options):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([layers.Input((6,)), layers.Dense(8, "relu"), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.05), loss, metrics=["mae"], **options)
    return model


def data(rows=50):
    rng = np.random.default_rng(1)
    return rng.random((rows, 6)).astype("float32"), rng.random((rows, 1)).astype("float32")


def weights(model):
    return [np.array(w) for w in model.get_weights()]


def assert_same_history(a, b):
    assert a.history.keys() == b.history.keys()
    for name in a.history:
        assert a.history[name] == pytest.approx(b.history[name])


def assert_same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def by_hand(model, x, y, batch_size, order, **weights_of):
    for start in range(0, len(x), batch_size):
        rows = order[start:start + batch_size]
        model.train_on_batch(x[rows], y[rows], **{k: v[rows] for k, v in weights_of.items()})


@pytest.mark.parametrize("shuffle", [True, False, "batch"])
def test_batches_are_those_that_keras_draws(shuffle):
    x, y = data()
    fitted, stepped = small(), small()
    fitted.evaluate(x, y, verbose=0)  # builds the metrics, for which fit() would draw a batch
    np.random.seed(5)
    fitted.fit(x, y, batch_size=16, epochs=2, shuffle=shuffle, verbose=0)
    np.random.seed(5)
    for _ in range(2):
        if shuffle == "batch":
            order = np.concatenate([np.random.permutation(min(16, 50 - s)) + s for s in range(0, 50, 16)])
        else:
            order = np.random.permutation(50) if shuffle else np.arange(50)
        by_hand(stepped, x, y, 16, order)
    assert_same(weights(fitted), weights(stepped))


def test_sample_weights_and_class_weights():
    x, y = data()
    kinds = (y > 0.5).astype("int32")
    weighted, by_class, stepped = small(), small(), small()
    w = np.where(kinds[:, 0] == 1, 3.0, 0.5).astype("float32")
    weighted.fit(x, kinds, batch_size=10, shuffle=False, sample_weight=w, verbose=0)
    by_class.fit(x, kinds, batch_size=10, shuffle=False, class_weight={0: 0.5, 1: 3.0}, verbose=0)
    by_hand(stepped, x, kinds, 10, np.arange(50), sample_weight=w)
    assert_same(weights(weighted), weights(stepped))
    assert_same(weights(by_class), weights(stepped))


@pytest.mark.parametrize("form", ["float64", "column order", "every other row", "backwards", "pandas", "tensor"])
def test_forms_of_arrays(form):
    x, y = data()
    forms = {
        "float64": lambda a: a.astype("float64"), "column order": np.asfortranarray, "backwards": lambda a: a[::-1].copy()[::-1],
        "every other row": lambda a: np.repeat(a, 2, axis=0)[::2], "tensor": ops.convert_to_tensor,
        "pandas": lambda a: pandas.DataFrame(a),
    }
    usual, other = small(), small()
    one, two = usual.fit(x, y, batch_size=16, shuffle=False, verbose=0), other.fit(forms[form](x), y, batch_size=16, shuffle=False, verbose=0)
    assert_same_history(one, two)
    np.testing.assert_allclose(usual.predict(x, verbose=0), other.predict(forms[form](x), verbose=0), rtol=1e-6)


def test_hdf5(tmp_path):
    x, y = data()
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"], file["y"] = x, y
        usual, other = small(), small()
        one = usual.fit(x, y, batch_size=16, shuffle=False, verbose=0)
        assert_same_history(other.fit(file["x"], file["y"], batch_size=16, shuffle=False, verbose=0), one)


class Pieces(keras.utils.PyDataset):
    def __init__(self, x, y, **options):
        super().__init__(**options)
        self.x, self.y = x, y

    def __len__(self):
        return 5

    def __getitem__(self, i):
        return self.x[10 * i:10 * i + 10], self.y[10 * i:10 * i + 10]


@pytest.mark.parametrize("form", ["dataset", "workers", "generator"])
def test_data_that_comes_in_batches(form):
    x, y = data()
    forms = {"dataset": lambda: Pieces(x, y), "workers": lambda: Pieces(x, y, workers=3, max_queue_size=4),
             "generator": lambda: (Pieces(x, y)[i % 5] for i in range(10))}
    usual, other = small(), small()
    other.evaluate(x, y, verbose=0)  # builds the metrics; else Keras takes a first batch from the queue of the workers for it
    one = usual.fit(x, y, batch_size=10, epochs=2, shuffle=False, verbose=0)
    two = other.fit(forms[form](), epochs=2, steps_per_epoch=5, shuffle=False, verbose=0)
    assert_same_history(one, two)
    assert_same(weights(usual), weights(other))


def test_several_inputs_and_outputs_by_name():
    a, b = layers.Input((3,), name="a"), layers.Input((2,), dtype="int32", name="b")
    merged = layers.Concatenate()([a, layers.Flatten()(layers.Embedding(10, 4)(b))])
    model = keras.Model({"a": a, "b": b}, {"p": layers.Dense(1, name="p")(merged), "q": layers.Dense(2, name="q")(merged)})
    model.compile("adam", {"p": "mse", "q": "mae"})
    rng = np.random.default_rng(0)
    x = {"b": rng.integers(0, 10, (21, 2)), "a": rng.random((21, 3))}
    y = {"q": rng.random((21, 2)), "p": rng.random((21, 1))}
    before = model.evaluate(x, y, verbose=0)
    model.fit(x, y, batch_size=8, epochs=20, verbose=0)
    assert model.evaluate(x, y, verbose=0)[0] < before[0]
    found, direct = model.predict(x, batch_size=8, verbose=0), model(x)
    assert found.keys() == direct.keys()
    for name, value in direct.items():
        np.testing.assert_allclose(found[name], np.array(value), rtol=1e-5, atol=1e-6)


class Counts(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.begun, self.ended, self.losses = [], [], []

    def on_train_batch_begin(self, batch, logs=None):
        self.begun.append(batch)

    def on_train_batch_end(self, batch, logs=None):
        self.ended.append(batch)
        self.losses.append(logs["loss"])


@pytest.mark.parametrize("together, begun, ended", [(1, [0, 1, 2, 3], [0, 1, 2, 3]), (3, [0, 3], [2, 5])])
def test_callbacks_that_watch_batches_see_each(together, begun, ended):
    x, y = data()
    model, counts = small(steps_per_execution=together), Counts()
    model.fit(x, y, batch_size=16, verbose=0, callbacks=[counts])
    assert (counts.begun, counts.ended) == (begun, ended)
    assert len(set(counts.losses)) == len(ended)


def native_calls(monkeypatch):
    from keras_plimsoll.src import feed
    calls, run = [], feed.Feed.run
    monkeypatch.setattr(feed.Feed, "run", lambda self, *args, **kwargs: calls.append(args[1]) or run(self, *args, **kwargs))
    return calls


def test_an_epoch_is_one_call_where_nobody_watches(monkeypatch, tmp_path):
    calls = native_calls(monkeypatch)
    x, y = data()
    model = small()
    saver = keras.callbacks.ModelCheckpoint(str(tmp_path / "best.keras"), monitor="loss")
    model.fit(x, y, batch_size=4, epochs=3, verbose=0, callbacks=[saver, keras.callbacks.EarlyStopping(monitor="loss", patience=9)])
    assert len(calls) == 3
    model.evaluate(x, y, batch_size=4, verbose=0)
    model.predict(x, batch_size=4, verbose=0)
    assert len(calls) == 5


def test_training_stops_when_a_callback_says_so():
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 1

    x, y = data()
    model = small()
    model.fit(x, y, batch_size=10, epochs=3, verbose=0, callbacks=[Stop()])
    assert int(model.optimizer.iterations) == 2


def test_a_value_that_is_held_stays_what_it_was():
    x, y = data()
    model = small()
    held, copy = model.layers[0].kernel.value, np.array(model.layers[0].kernel)
    model.fit(x, y, epochs=2, verbose=0)
    np.testing.assert_array_equal(held, copy)
    assert not np.array_equal(model.layers[0].kernel, copy)


def test_results_that_are_not_rows():
    class Sums(keras.Model):
        def call(self, x):
            return ops.sum(x, axis=0, keepdims=True)

    x, _ = data(20)
    np.testing.assert_allclose(Sums().predict(x, batch_size=10, verbose=0), [x[:10].sum(0), x[10:].sum(0)], rtol=1e-5)


def test_half_precision_results():
    model = keras.Sequential([layers.Input((6,)), layers.Dense(3, dtype="bfloat16")])
    x, _ = data(20)
    found = model.predict(x, batch_size=8, verbose=0)
    assert str(found.dtype) == "bfloat16"
    np.testing.assert_array_equal(found.astype("float32"), np.array(model(x)).astype("float32"))


def test_train_test_and_predict_share_an_arena():
    x, y = data()
    model = small()
    model.fit(x, y, verbose=0)
    model.evaluate(x, y, verbose=0)
    model.predict(x, verbose=0)
    functions = (model.train_function, model.test_function, model.predict_function)
    sizes = [made.program.arena_bytes for f in functions for made in f.steps.programs.values()]
    assert len(sizes) == 6 and max(sizes) <= model._workshop.place.arena_bytes < max(sizes) + 4096 + 1


def test_eager_steps_have_values_and_learn_the_same():
    seen = []

    class Looks(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = small()

        def call(self, x):
            return self.inner(x)

        def train_step(self, batch):
            seen.append(float(ops.mean(batch[0])))
            logs = super().train_step(batch)
            if logs["loss"] > 0:
                seen.append(float(logs["loss"]))
            return logs

    x, y = data()
    model, compiled = Looks(), small()
    model.compile(keras.optimizers.SGD(0.05), "mse", run_eagerly=True)
    history = model.fit(x, y, batch_size=25, epochs=2, shuffle=False, verbose=0)
    assert seen[::2] == pytest.approx([x[:25].mean(), x[25:].mean()] * 2)
    assert history.history["loss"] == pytest.approx(compiled.fit(x, y, batch_size=25, epochs=2, shuffle=False, verbose=0).history["loss"])
    assert_same(weights(model), weights(compiled))


def test_values_in_a_traced_step_are_refused_with_a_hint():
    class Looks(keras.Model):
        def call(self, x):
            return x

        def train_step(self, batch):
            return {"loss": float(ops.mean(batch[0]))}

    model = Looks()
    model.compile("sgd", "mse")
    with pytest.raises(TypeError, match="run_eagerly=True"):
        model.fit(*data(), verbose=0)


def test_two_threads_take_turns():
    x, y = data()
    model, errors = small(), []
    expected = model.predict(x, verbose=0)

    def predict():
        try:
            assert all(model.predict(x, batch_size=8, verbose=0).shape == expected.shape for _ in range(20))
        except Exception as error:
            errors.append(error)

    other = threading.Thread(target=predict)
    other.start()
    model.fit(x, y, batch_size=4, epochs=30, verbose=0)
    other.join()
    assert not errors


def torch_folder(tmp_path):
    """What to add to the path for `import torch`: nothing, or a folder with the system's alone; None if it has none for this Python."""
    system = pathlib.Path("/usr/lib/python3/dist-packages/torch")
    if importlib.util.find_spec("torch"):
        return ""
    if not list(system.glob(f"_C.cpython-{sys.version_info.major}{sys.version_info.minor}-*")):
        return None
    (tmp_path / "torch").symlink_to(system)
    return str(tmp_path)


def test_a_loader_of_torch(run_python, tmp_path):
    folder = torch_folder(tmp_path)
    if folder is None:
        pytest.skip("this machine: no PyTorch for this Python (Debian: python3-torch)")
    loader = "torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.tensor(x.tolist()), torch.tensor(y.tolist())), batch_size=10)"
    code = DATASET.replace("tensorflow as tf", "torch").replace("tf.data.Dataset.from_tensor_slices((x, y)).batch(10)", loader)
    code = code.replace("model.predict(data[0], verbose=0)", "model.predict(x, verbose=0)")
    if folder:  # Debian's is made for NumPy 1: its tensors come as lists
        code = f"import sys; sys.path.append({folder!r})\n{code}".replace("def fit(", 'torch.Tensor.numpy = lambda t: np.array(t.tolist(), "float32")\ndef fit(')
    assert run_python(code, backend="plimsoll").splitlines()[-1] == "same"


def test_a_dataset_of_tensorflow(run_python):
    assert run_python(DATASET, backend="plimsoll").splitlines()[-1] == "same"


DATASET = """
import keras, numpy as np, tensorflow as tf
from keras import layers
x, y = np.random.default_rng(1).random((2, 50, 6)).astype("float32")
def fit(*data, **options):
    model = keras.Sequential([layers.Input((6,)), layers.Dense(6, kernel_initializer="ones")])
    model.compile("adam", "mse")
    return model.fit(*data, epochs=2, verbose=0, **options).history["loss"], model.predict(data[0], verbose=0)
ours, theirs = fit(x, y, batch_size=10, shuffle=False), fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(10))
np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6)
np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)
print("same")
"""
INTERRUPTED = """
import os, signal, threading, numpy as np, keras
from keras import layers
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have it ignored
model = keras.Sequential([keras.Input((6,)), layers.Dense(8, "relu"), layers.Dense(1)])
model.compile("adam", "mse")
x, y = np.random.rand(320000, 6).astype("float32"), np.random.rand(320000, 1).astype("float32")
model.train_on_batch(x[:32], y[:32])

def watch():  # in the middle of the native call: it has given up the interpreter, and variables are read between steps
    seen = [int(model.optimizer.iterations)]
    while len(seen) < 3:
        now = int(model.optimizer.iterations)
        seen += [now] if now > seen[-1] else []
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=watch).start()
try:
    model.fit(x, y, batch_size=32, epochs=10**9, verbose=0)
except KeyboardInterrupt:
    print("interrupted", int(model.optimizer.iterations) > 2)
print(len(model.fit(x[:64], y[:64], epochs=2, verbose=0).history["loss"]))
"""


def test_ctrl_c_in_the_middle_of_a_call(run_python):
    assert run_python(INTERRUPTED, backend="plimsoll").split() == ["interrupted", "True", "2"]


def test_no_records_are_an_error_that_says_so():
    x, y = data()
    for call in (lambda m: m.fit(x[:0], y[:0], verbose=0), lambda m: m.evaluate(x[:0], y[:0], verbose=0),
                 lambda m: m.predict(x[:0], verbose=0)):
        model = small()
        with pytest.raises(ValueError, match="at least one record"):
            call(model)
        model.fit(x, y, verbose=0)


@pytest.mark.parametrize("optimizer", ["Adam", "LossScaleOptimizer"])
def test_an_optimizer_that_could_not_be_built_is_as_before(optimizer, monkeypatch):
    x, y = data()
    made = keras.optimizers.Adam() if optimizer == "Adam" else keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam())
    model = small()
    model.compile(made, "mse")
    whole = keras.optimizers.Adam.add_variable_from_reference
    left = [3]  # of eight

    def fails(self, *args, **kwargs):
        left[0] -= 1
        if left[0] < 0:
            raise MemoryError("the line")
        return whole(self, *args, **kwargs)

    monkeypatch.setattr(keras.optimizers.Adam, "add_variable_from_reference", fails)
    with pytest.raises(MemoryError):
        model.fit(x, y, verbose=0)
    monkeypatch.undo()
    assert not made.built
    model.fit(x, y, verbose=0)
    assert len({v.path for v in made.variables}) == len(made.variables) == (14 if optimizer != "Adam" else 10)


def test_what_fit_builds_augments_and_keeps_state_as_on_tensorflow():
    """On JAX Keras 3.15.1 does neither."""
    flips = keras.Sequential([layers.RandomFlip("horizontal", seed=3)])

    class Augmented(keras.Model):
        def build(self, shape):
            self.scale = self.add_weight(shape=(1,), initializer="ones")

        def call(self, x):
            return ops.mean(flips(x) * self.scale, axis=(1, 2))

    model = Augmented()
    model.compile("sgd", "mse")
    model.fit(np.ones((8, 4, 4, 1), "float32"), np.zeros((8, 1)), batch_size=4, epochs=2, verbose=0)
    assert flips.variables[0].numpy().tolist() == [3, 4]  # drawn from once a batch

    kept = keras.Sequential([layers.Input(batch_shape=(4, 5, 2)), layers.GRU(3, stateful=True), layers.Dense(1)])
    kept.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(8, 5, 2)).astype("float32")
    first = kept.evaluate(x, x[:, 0, :1], batch_size=4, verbose=0)
    assert np.abs(kept.layers[0].states[0]).sum() > 0 and kept.evaluate(x, x[:, 0, :1], batch_size=4, verbose=0) != first


def test_metrics_of_fit_see_masks():
    tokens = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])
    model = keras.Sequential([layers.Input((4,)), layers.Embedding(4, 1, embeddings_initializer="ones", mask_zero=True)])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    assert model.fit(tokens, np.where(tokens, 3.0, 0.0)[..., None], verbose=0).history["mae"] == [pytest.approx(2.0)]
