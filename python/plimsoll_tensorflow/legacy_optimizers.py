"""tf.keras.optimizers.legacy: the optimizers of Keras 3, which also take `lr` and `decay`."""
import keras

from plimsoll_tensorflow import hints


def _legacy(new):
    class Legacy(new):
        def __init__(self, learning_rate=None, *args, lr=None, decay=0.0, **kwargs):
            rate = lr if lr is not None else learning_rate
            if decay and not callable(rate):
                rate = keras.optimizers.schedules.InverseTimeDecay(0.001 if rate is None else rate, decay_steps=1, decay_rate=decay)
            super().__init__(*args, **kwargs) if rate is None else super().__init__(rate, *args, **kwargs)

        def __new__(cls, *args, **kwargs):
            return object.__new__(cls)

    Legacy.__name__ = Legacy.__qualname__ = new.__name__
    return Legacy


Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD = (_legacy(getattr(keras.optimizers, name)) for name in (
    "Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD"))
Optimizer = keras.optimizers.Optimizer
__getattr__ = hints.getter("keras.optimizers.legacy")
