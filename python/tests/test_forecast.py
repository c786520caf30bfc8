"""plimsoll.forecast, batch_size="max" and refusals: what a step takes is known before it runs."""
import gc

import keras
import numpy as np
import plimsoll
import pytest
from keras import layers


def cnn():
    model = keras.Sequential([layers.Input((32, 32, 3)), layers.Conv2D(16, 3, activation="relu"), layers.BatchNormalization(),
                              layers.MaxPooling2D(), layers.Conv2D(32, 3, activation="relu"), layers.Flatten(), layers.Dense(10, "softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def images(rows):
    rng = np.random.default_rng(0)
    return rng.random((rows, 32, 32, 3)).astype("float32"), rng.integers(0, 10, rows).astype("int32")


@pytest.fixture
def line():
    def draw(more):
        plimsoll.set_memory_limit("1TiB")  # measures code and threads, which count too
        plimsoll.set_memory_limit(plimsoll.memory_use().engine + more)

    yield draw
    plimsoll.set_memory_limit(None)


def test_the_forecast_is_what_training_takes():
    keras.utils.clear_session()  # what other tests left could go meanwhile
    gc.collect()
    model = cnn()
    before = plimsoll.memory_use().engine
    forecast = plimsoll.forecast(model, 32)
    assert not model.optimizer.built
    assert plimsoll.memory_use().engine - before < 64 << 10
    x, y = images(64)
    model.fit(x, y, batch_size=32, verbose=0)
    (made,) = model.train_function.steps.programs.values()
    assert forecast.arena == made.program.arena_bytes
    taken = plimsoll.memory_use().engine - before + forecast.weights
    assert taken == pytest.approx(forecast.total, rel=0.05)
    assert forecast.weights == sum(w.nbytes for w in model.get_weights())
    assert "conv2d" in dict(forecast.layers) or any(layer.startswith("conv2d") for layer, _ in forecast.layers)
    assert "MiB" in str(forecast)


def test_types_may_be_given():
    model = keras.Sequential([layers.Input((None, 4)), layers.LSTM(8), layers.Dense(1)])
    model.compile("adam", "mse")
    with pytest.raises(ValueError, match="give x and y"):
        plimsoll.forecast(model, 8)
    short, long = (plimsoll.forecast(model, 8, np.zeros((1, n, 4), "float32"), np.zeros((1, 1), "float32")) for n in (5, 50))
    assert short.arena < long.arena
    with pytest.raises(ValueError, match="batch size > 0"):
        plimsoll.forecast(model, 0)


def test_a_refusal_has_the_numbers_and_what_fits(line):
    model, (x, y) = cnn(), images(512)
    small = plimsoll.forecast(model, 32).total
    line(2 * small)
    with pytest.raises(plimsoll.MemoryLineError, match="a batch of 512 needs .* the largest batch that fits is [1-9]") as refused:
        model.fit(x, y, batch_size=512, verbose=0)
    fits = int(str(refused.value).split("the largest batch that fits is ")[1].split(";")[0])
    assert isinstance(refused.value, MemoryError) and 32 <= fits < 512
    losses = model.fit(x, y, batch_size=fits, epochs=2, verbose=0).history["loss"]
    assert losses[1] < losses[0]


def test_the_largest_batch_is_found_and_stays_under_the_line(line):
    model, (x, y) = cnn(), images(512)
    line(2 * plimsoll.forecast(model, 32).total)
    model.fit(x, y, batch_size="max", verbose=0)
    used = [key[1][1][0] for key in model.train_function.steps.programs]
    assert 32 <= max(used) < 512
    assert plimsoll.memory_use().engine <= plimsoll.memory_use().limit
    with pytest.raises(ValueError, match="needs arrays"):
        model.fit(((x[:8], y[:8]) for _ in range(2)), batch_size="max", verbose=0)


def deep():
    model = keras.Sequential([layers.Input((64,)), *[layers.Dense(64, "tanh") for _ in range(12)], layers.Dense(1)])
    model.compile("adam", "mse")
    return model


@pytest.mark.parametrize("batches", ["arrays", "generator"])
def test_a_line_that_moves_while_training_holds_from_the_next_step(line, batches):
    keras.utils.clear_session()
    rng = np.random.default_rng(1)
    x, y = rng.random((8192, 64), "float32"), rng.random((8192, 1), "float32")
    models, arenas = [deep(), deep()], []
    models[1].set_weights(models[0].get_weights())

    def arena(model):
        return max(made.program.arena_bytes for made in model.train_function.steps.programs.values())

    def lower(epoch, logs):
        arenas.append(arena(models[1]))
        if epoch == 0:
            line(arenas[0] * 3 // 4)

    for model, callbacks in zip(models, ([], [keras.callbacks.LambdaCallback(on_epoch_end=lower)])):
        given = {"x": x, "y": y, "batch_size": 4096, "shuffle": False} if batches == "arrays" else {
            "x": ((x[i:i + 4096], y[i:i + 4096]) for _ in range(3) for i in (0, 4096)), "steps_per_epoch": 2}
        model.fit(epochs=3, verbose=0, callbacks=callbacks, **given)
    assert arenas[1] == arenas[2] < arenas[0]
    assert plimsoll.memory_use().engine <= plimsoll.memory_use().limit
    for ours, unmoved in zip(models[1].get_weights(), models[0].get_weights()):
        np.testing.assert_array_equal(ours, unmoved)


def test_clear_session_gives_back_what_can_be_made_again():
    model, (x, y) = cnn(), images(64)
    model.fit(x, y, verbose=0)
    held = plimsoll.memory_use().engine
    keras.utils.clear_session()
    assert held - plimsoll.memory_use().engine > plimsoll.forecast(model, 32).arena
    assert model.fit(x, y, verbose=0).history["loss"]


def counted():
    begun = []
    return begun, keras.callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: begun.append(batch))


@pytest.mark.parametrize("rows", [512, 700])  # whole batches, and a smaller last one
def test_a_refusal_names_a_line_that_does_and_no_more(line, rows):
    model, (x, y) = cnn(), images(rows)
    line(plimsoll.forecast(model, 256).total // 2)
    begun, callback = counted()
    with pytest.raises(plimsoll.MemoryLineError, match="the least line that would do is .* MiB") as refused:
        model.fit(x, y, batch_size=256, verbose=0, callbacks=[callback])
    error = refused.value
    assert not begun and error.batch == 256 and 0 < error.largest_batch < 256
    assert error.line == plimsoll.memory_use().limit < error.least <= error.need and error.layers
    plimsoll.set_memory_limit(int(0.95 * error.least))
    with pytest.raises(plimsoll.MemoryLineError):
        model.fit(x, y, batch_size=256, verbose=0, callbacks=[callback])
    assert not begun
    plimsoll.set_memory_limit(error.least)
    model.fit(x, y, batch_size=256, verbose=0, callbacks=[callback])
    assert begun and plimsoll.memory_use().engine <= plimsoll.memory_use().limit


def test_validation_that_does_not_fit_is_refused_before_the_first_batch(line):
    model, (x, y) = cnn(), images(2000)
    line(2 * plimsoll.forecast(model, 16).total)
    begun, callback = counted()
    with pytest.raises(plimsoll.MemoryLineError, match="validation with a batch of 2000 needs") as refused:
        model.fit(x[:32], y[:32], batch_size=16, validation_data=(x, y), validation_batch_size=2000, verbose=0, callbacks=[callback])
    assert not begun and 0 < refused.value.largest_batch < 2000
    batch = refused.value.largest_batch
    history = model.fit(x[:32], y[:32], batch_size=16, validation_data=(x, y), validation_batch_size=batch, verbose=0).history
    assert "val_loss" in history


def test_state_of_the_optimizer_that_does_not_fit_is_refused_with_the_numbers(line):
    model = keras.Sequential([layers.Input((1000,)), layers.Dense(2000), layers.Dense(1)])
    model.compile("adam", "mse")
    x, y = np.zeros((64, 1000), "float32"), np.zeros((64, 1), "float32")
    line(4 << 20)
    with pytest.raises(plimsoll.MemoryLineError, match="least line that would do") as refused:
        model.fit(x, y, verbose=0)
    assert not model.optimizer.built
    plimsoll.set_memory_limit(refused.value.least)
    model.fit(x, y, verbose=0)


@pytest.mark.parametrize("kind", ["evaluate", "predict"])
def test_passes_that_do_not_fit_say_what_would(line, kind):
    model, (x, y) = cnn(), images(1024)
    line(1 << 20)
    arguments = (x, y) if kind == "evaluate" else (x,)
    with pytest.raises(plimsoll.MemoryLineError, match=rf"\[{kind}\] a batch of 1024 needs") as refused:
        getattr(model, kind)(*arguments, batch_size=1024, verbose=0)
    plimsoll.set_memory_limit(refused.value.least)
    getattr(model, kind)(*arguments, batch_size=1024, verbose=0)


def kept_error(do):
    with pytest.raises(plimsoll.MemoryLineError) as refused:
        do()
    return refused.value


def test_a_refusal_holds_nothing_and_the_line_it_names_is_enough(line):
    """A notebook keeps the last error: what is in its frames would be held."""
    keras.utils.clear_session()
    model, (x, y) = cnn(), images(300)  # 300 = 256 + 44: the Program of the smaller batch is made first
    line(plimsoll.forecast(model, 256).total * 7 // 10)
    before = plimsoll.memory_use().engine
    error = kept_error(lambda: model.fit(x, y, batch_size=256, verbose=0))
    assert plimsoll.memory_use().engine - before < 16 << 20  # code that planning has brought into memory
    assert error.least < plimsoll.memory_use().engine + plimsoll.forecast(model, 256).total + (4 << 20)
    losses = model.fit(x, y, batch_size=error.largest_batch, epochs=2, verbose=0).history["loss"]
    assert losses[1] < losses[0]
    plimsoll.set_memory_limit(error.least)
    model.fit(x, y, batch_size=256, verbose=0)


@pytest.mark.parametrize("way", ["generator", "train_on_batch"])
def test_a_batch_that_nobody_knew_of_is_refused_with_the_numbers(line, way):
    keras.utils.clear_session()
    model, (x, y) = cnn(), images(256)
    line(plimsoll.forecast(model, 256).total // 2)
    if way == "generator":
        error = kept_error(lambda: model.fit(((x, y) for _ in range(3)), steps_per_epoch=3, verbose=0))
    else:
        error = kept_error(lambda: model.train_on_batch(x, y))
    assert error.batch == 256 and 0 < error.largest_batch < 256
    assert error.line == plimsoll.memory_use().limit < error.least
    assert np.isfinite(model.train_on_batch(x[:error.largest_batch], y[:error.largest_batch])).all()
    plimsoll.set_memory_limit(error.least)
    assert np.isfinite(model.train_on_batch(x, y)).all()


def test_slots_of_an_optimizer_are_made_without_a_copy(line):
    model = keras.Sequential([layers.Input((1000,)), layers.Dense(4000, use_bias=False)])
    model.compile("adam", "mse")
    slots, largest = 2 * 16_000_000, 16_000_000
    line(slots + largest // 2)
    model.optimizer.build(model.trainable_variables)
    assert [not np.asarray(v).any() for v in model.optimizer.variables[2:]] == [True, True]
