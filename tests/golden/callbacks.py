"""What Keras calls its callbacks with, call by call: writes callbacks.json. Run with the JAX backend."""

import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
import numpy as np  # noqa: E402

ROWS, FEATURES = 40, 3
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(ROWS, FEATURES)).astype("float32")
Y = (X.sum(axis=1, keepdims=True) + RANDOM.normal(size=(ROWS, 1))).astype("float32")
WEIGHTS = [
    RANDOM.normal(size=shape).astype("float32") for shape in [(FEATURES, 4), (4,), (4, 1), (1,)]
]


def model():
    m = keras.Sequential(
        [keras.Input((FEATURES,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)]
    )
    m.set_weights(WEIGHTS)
    m.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse", metrics=["mae"])
    return m


class Recorder(keras.callbacks.Callback):
    """Writes down every call; sets `flag` of the model when it sees the call named by `stop_at`."""

    def __init__(self, name="a", events=None, stop_at=None, flag="stop_training"):
        super().__init__()
        self.name, self.stop_at, self.flag = name, stop_at, flag
        self.events = [] if events is None else events

    def note(self, hook, index=None, logs=None):
        logs = dict(logs or {})
        outputs = logs.pop("outputs", None)
        event = {"who": self.name, "hook": hook, "index": index}
        event["logs"] = [[key, float(value)] for key, value in logs.items()]
        if outputs is not None:
            event["outputs"] = np.asarray(outputs).ravel().tolist()
        if hook in ("train_begin", "test_begin", "predict_begin"):
            event["params"] = {key: self.params[key] for key in ("epochs", "steps", "verbose")}
        self.events.append(event)
        if self.stop_at == [hook, index]:
            setattr(self.model, self.flag, True)

    def on_train_begin(self, logs=None):
        self.note("train_begin", None, logs)

    def on_train_end(self, logs=None):
        self.note("train_end", None, logs)

    def on_epoch_begin(self, epoch, logs=None):
        self.note("epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch, logs=None):
        self.note("epoch_end", epoch, logs)

    def on_train_batch_begin(self, batch, logs=None):
        self.note("train_batch_begin", batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        self.note("train_batch_end", batch, logs)

    def on_test_begin(self, logs=None):
        self.note("test_begin", None, logs)

    def on_test_end(self, logs=None):
        self.note("test_end", None, logs)

    def on_test_batch_begin(self, batch, logs=None):
        self.note("test_batch_begin", batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        self.note("test_batch_end", batch, logs)

    def on_predict_begin(self, logs=None):
        self.note("predict_begin", None, logs)

    def on_predict_end(self, logs=None):
        self.note("predict_end", None, logs)

    def on_predict_batch_begin(self, batch, logs=None):
        self.note("predict_batch_begin", batch, logs)

    def on_predict_batch_end(self, batch, logs=None):
        self.note("predict_batch_end", batch, logs)


FIT = {"batch_size": 16, "epochs": 2, "shuffle": False, "verbose": 0}
SPLIT = {**FIT, "validation_split": 0.25}
PASS = {"batch_size": 16, "verbose": 0}

# name, function, arguments, [hook, index] at which to stop, flag
CASES = [
    ("fit", "fit", FIT, None, None),
    ("fit_split", "fit", SPLIT, None, None),
    ("fit_rarely_validated", "fit", {**SPLIT, "epochs": 4, "initial_epoch": 1, "validation_freq": 2}, None, None),
    ("fit_no_epochs", "fit", {**SPLIT, "epochs": 0}, None, None),
    ("fit_validation_steps", "fit", {**SPLIT, "validation_batch_size": 4, "validation_steps": 2}, None, None),
    ("fit_stop_in_batch_end", "fit", SPLIT, ["train_batch_end", 0], "stop_training"),
    ("fit_stop_in_batch_begin", "fit", SPLIT, ["train_batch_begin", 1], "stop_training"),
    ("fit_stop_in_epoch_begin", "fit", SPLIT, ["epoch_begin", 0], "stop_training"),
    ("fit_stop_in_epoch_end", "fit", SPLIT, ["epoch_end", 0], "stop_training"),
    ("fit_stop_in_train_begin", "fit", SPLIT, ["train_begin", None], "stop_training"),
    ("fit_stop_in_validation", "fit", SPLIT, ["test_batch_end", 0], "stop_training"),
    ("fit_stop_validation", "fit", {**SPLIT, "validation_batch_size": 4}, ["test_batch_end", 1], "stop_evaluating"),
    ("evaluate", "evaluate", PASS, None, None),
    ("evaluate_steps", "evaluate", {**PASS, "steps": 2}, None, None),
    ("evaluate_stop", "evaluate", PASS, ["test_batch_end", 1], "stop_evaluating"),
    ("evaluate_stop_in_begin", "evaluate", PASS, ["test_begin", None], "stop_evaluating"),
    ("predict", "predict", PASS, None, None),
    ("predict_steps", "predict", {**PASS, "steps": 2}, None, None),
    ("predict_stop", "predict", PASS, ["predict_batch_end", 1], "stop_predicting"),
]


def run(name, function, arguments, stop_at, flag):
    m = model()
    recorder = Recorder(stop_at=stop_at, flag=flag or "stop_training")
    other = Recorder("b", recorder.events)
    data = (X,) if function == "predict" else (X, Y)
    result = getattr(m, function)(*data, callbacks=[recorder, other], **arguments)
    return {
        "name": name,
        "function": function,
        "arguments": arguments,
        "stop_at": stop_at,
        "flag": flag,
        "events": recorder.events,
        "rows": len(result) if function == "predict" else None,
    }


def main():
    golden = {
        "x": X.tolist(),
        "y": Y.tolist(),
        "weights": [{"shape": w.shape, "values": w.ravel().tolist()} for w in WEIGHTS],
        "cases": [run(*case) for case in CASES],
    }
    path = pathlib.Path(__file__).with_name("callbacks.json")
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
