"""compile() and other settings by callbacks of a fit that runs."""
import keras
import numpy as np
import pytest


class CompilesAgain(keras.callbacks.Callback):
    """As notebooks do that unfreeze layers or change the loss on the way."""

    def __init__(self, at, hook):
        super().__init__()
        self.at = at
        setattr(self, hook, self.compile_at)

    def compile_at(self, index, logs=None):
        if index == self.at:
            self.model.compile(keras.optimizers.SGD(0.5), "mae", metrics=["mse"])


@pytest.mark.parametrize("hook, at, steps", [("on_epoch_begin", 1, 2), ("on_epoch_end", 0, 2), ("on_train_batch_end", 0, 3), ("on_train_batch_begin", 1, 3)])
@pytest.mark.parametrize("batches", [False, True])
def test_compile_in_a_callback_holds_from_the_next_batch_on(hook, at, steps, batches):
    x, y = np.ones((4, 1), "float32"), np.full((4, 1), 100.0, "float32")
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    data = {"x": ((x[i:i + 2], y[i:i + 2]) for _ in range(2) for i in (0, 2)), "steps_per_epoch": 2} if batches else {"x": x, "y": y, "batch_size": 2}
    history = model.fit(**data, epochs=2, verbose=0, shuffle=False, callbacks=[CompilesAgain(at, hook)])
    np.testing.assert_allclose(model.get_weights()[0], [[0.5 * steps]])  # the gradient of "mae" is -1, the first compile's rate is 0
    assert "mse" in history.history


class SetsMomentum(keras.callbacks.Callback):
    def __init__(self, hook):
        super().__init__()
        setattr(self, hook, self.set)

    def set(self, index, logs=None):
        self.model.optimizer.momentum = 0.5


@pytest.mark.parametrize("hook", ["on_epoch_begin", "on_train_batch_begin"])
def test_what_the_first_callbacks_set_is_traced(hook):
    """As on TensorFlow and JAX, which trace at the first batch."""
    x, y = np.ones((2, 1), "float32"), np.full((2, 1), 100.0, "float32")
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(1.0, momentum=0.9), "mae")
    model.fit(x, y, epochs=2, batch_size=2, verbose=0, callbacks=[SetsMomentum(hook)])
    np.testing.assert_allclose(model.get_weights()[0], [[1.0 + 1.5]])
