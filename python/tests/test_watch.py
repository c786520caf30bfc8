"""plimsoll.on_nan, plimsoll.trace and plimsoll.MemoryMonitor with unmodified Keras."""
import csv
import json
import time
import warnings

import keras
import numpy as np
import plimsoll
import pytest

ROWS, FEATURES, BATCH = 24, 3, 4
OPTIMIZERS = {
    "adam": lambda: keras.optimizers.Adam(0.01),
    "sgd": lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.01),
    "adagrad": lambda: keras.optimizers.Adagrad(0.1),
    "clipped": lambda: keras.optimizers.Adam(0.01, global_clipnorm=0.1, use_ema=True),
    "accumulated": lambda: keras.optimizers.Adam(0.01, gradient_accumulation_steps=2),
}


@pytest.fixture(autouse=True)
def off_afterwards():
    yield
    plimsoll.on_nan(None)
    plimsoll.on_stall(None)


def data(bad_row=None):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(ROWS, FEATURES)).astype("float32"), rng.normal(size=(ROWS, 1)).astype("float32")
    if bad_row is not None:
        x[bad_row, 1] = np.nan
    return x, y


def make(optimizer):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((FEATURES,)), keras.layers.Dense(5, activation="tanh", name="first"),
                              keras.layers.BatchNormalization(), keras.layers.Dropout(0.2), keras.layers.Dense(1, name="last")])
    model.compile(optimizer, loss="mse", metrics=["mae"])
    return model


def state(model):
    return [np.array(v).tobytes() for v in [*model.variables, *model.optimizer.variables, *model.metrics_variables]]


def fit(model, x, y, feed="arrays", **more):
    if feed == "arrays":
        return model.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0, **more)
    batches = [(x[i:i + BATCH], y[i:i + BATCH]) for i in range(0, len(x), BATCH)]
    return model.fit((b for b in batches), verbose=0, **more)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("hold", [False, True])
def test_changes_no_bit_of_steps_that_are_finite(name, hold):
    plain, watched = make(OPTIMIZERS[name]()), make(OPTIMIZERS[name]())
    fit(plain, *data(), epochs=2)
    plimsoll.on_nan("raise", hold_updates=hold)
    fit(watched, *data(), epochs=2)
    assert state(plain) == state(watched)


@pytest.mark.parametrize("feed", ["arrays", "generator"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_raises_and_leaves_every_bit_as_before_the_step(name, feed):
    x, y = data(bad_row=9)  # of the third batch
    model, stopped = make(OPTIMIZERS[name]()), make(OPTIMIZERS[name]())
    plimsoll.on_nan("raise")
    for i in (0, BATCH):
        stopped.train_on_batch(x[i:i + BATCH], y[i:i + BATCH])
    with pytest.raises(plimsoll.NonFiniteError, match="the loss is not finite.*batch x0.*1 NaN") as error:
        fit(model, x, y, feed)
    assert isinstance(error.value, FloatingPointError)
    weights = lambda m: [np.array(v).tobytes() for v in [*m.variables, *m.optimizer.variables]]
    assert weights(model) == weights(stopped)
    fit(model, *data())  # the same model trains on


def test_names_the_layer_and_what_it_read():
    model = keras.Sequential([keras.Input((FEATURES,)), keras.layers.Dense(2, name="calm"),
                              keras.layers.Dense(2, activation="exponential", name="boom"), keras.layers.Dense(1)])
    model.compile("sgd", loss="mse")
    model.get_layer("boom").bias.assign([1000.0, 1000.0])
    plimsoll.on_nan("raise")
    with pytest.raises(plimsoll.NonFiniteError, match="(?s)exp.* in layer .*boom.*from .* to "):
        fit(model, *data())


@pytest.mark.parametrize("feed", ["arrays", "generator"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_skipping_is_training_without_the_batch(name, feed):
    x, y = data(bad_row=9)
    skipping, without = make(OPTIMIZERS[name]()), make(OPTIMIZERS[name]())
    good = [i for i in range(ROWS) if not 8 <= i < 12]
    want = fit(without, *(a[good] for a in data()), feed)
    plimsoll.on_nan("skip")
    with pytest.warns(RuntimeWarning, match="left out.*batch x0"):
        got = fit(skipping, x, y, feed)
    assert state(skipping) == state(without)
    assert got.history == want.history


@pytest.mark.parametrize("feed", ["arrays", "generator"])
def test_warning_leaves_the_step_as_it_is(feed):
    x, y = data(bad_row=9)
    for optimizer in OPTIMIZERS.values():
        plain, warned = make(optimizer()), make(optimizer())
        plimsoll.on_nan(None)
        fit(plain, x, y, feed)
        plimsoll.on_nan("warn")
        with pytest.warns(RuntimeWarning, match="batch x0"):
            fit(warned, x, y, feed)
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(plain.get_weights(), warned.get_weights()))
        assert np.isnan(plain.get_weights()[0]).any()


def test_is_off_at_first_and_leaves_terminate_on_nan_alone():
    x, y = data(bad_row=9)
    model, seen = make("adam"), []
    counter = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(model, x, y, callbacks=[keras.callbacks.TerminateOnNaN(), counter])
    assert seen == [0, 1, 2]


def test_leaves_the_infinities_of_loss_scaling_alone():
    def scaled():
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((FEATURES,)), keras.layers.Dense(4, activation="tanh", dtype="mixed_float16"), keras.layers.Dense(1)])
        model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.01), initial_scale=1e9), loss="mse")
        return model

    plain, watched = scaled(), scaled()
    fit(plain, *data())
    plimsoll.on_nan("raise")
    fit(watched, *data())
    assert state(plain) == state(watched)
    assert float(watched.optimizer.dynamic_scale) < 1e9


def test_takes_no_memory_where_updates_are_not_held():
    """Each gradient is asked for its own update alone: nothing waits for all of them."""
    def arena(*policy):
        plimsoll.on_nan(*policy)
        model = keras.Sequential([keras.Input((64,)), *(keras.layers.Dense(512) for _ in range(3)), keras.layers.Dense(1)])
        model.compile("adam", loss="mse")
        model.fit(np.ones((8, 64), "float32"), np.ones((8, 1), "float32"), batch_size=8, verbose=0)
        return max(ready.program.arena_bytes for ready in model.train_function.steps.programs.values())

    plain = arena(None)
    assert arena("raise") <= plain + 16 * 1024
    assert arena("raise", True) >= (64 + 512 + 512) * 512 * 4


def test_refuses_policies_it_does_not_know():
    for arguments in (("panic",), (None, True)):
        with pytest.raises(ValueError, match="on_nan"):
            plimsoll.on_nan(*arguments)


def test_a_generator_that_hangs_is_named(capfd):
    x, y = data()

    def batches():
        for i in range(6):
            if i == 3:  # until the watch has said so, as its words on standard error tell
                for _ in range(6000):
                    if "waiting for data" in capfd.readouterr().err:
                        break
                    time.sleep(0.01)
            yield x[:BATCH], y[:BATCH]

    plimsoll.on_stall("raise", after=0.5)
    with pytest.raises(plimsoll.StallError, match="waiting for data"):
        make("adam").fit(batches(), verbose=0)
    for arguments in (("panic",), ("warn", 0)):
        with pytest.raises(ValueError, match="on_stall"):
            plimsoll.on_stall(*arguments)


def test_trace_has_kernels_epochs_and_memory(tmp_path):
    model = make("adam")
    with plimsoll.trace(tmp_path / "run.json"):
        fit(model, *data(), epochs=2)
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    names = [e["name"] for e in events]
    assert {"epoch 1", "epoch 2", "run of a Program", "memory: weights"} <= set(names)
    assert any("first" in name for name in names)
    times = [e["ts"] for e in events if e["ph"] != "M"]
    assert times == sorted(times)
    assert all({"name", "ph", "pid"} <= set(e) for e in events)


def test_memory_monitor_writes_lines(tmp_path):
    fit(make("adam"), *data(), epochs=3, callbacks=[plimsoll.MemoryMonitor(tmp_path / "memory.csv")])
    rows = list(csv.DictReader(open(tmp_path / "memory.csv")))
    assert len(rows) >= 3 and all(int(row["engine"]) > 0 and int(row["resident"]) > 0 for row in rows)
    with pytest.raises(ValueError, match="MemoryMonitor"):
        plimsoll.MemoryMonitor("x", every=0)
