"""What Keras calls its callbacks with, call by call, and what its own callbacks do: writes callbacks.json. Run with the JAX backend.

python callbacks.py effects   makes the second part alone anew
"""

import json
import os
import pathlib
import sys
import tempfile

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


# What a monitored number is at the end of each epoch: falls, stays, rises, falls again.
SCORE = [0.9, 0.6, 0.59, 0.595, 0.6, 0.58, 0.7, 0.7, 0.71, 0.3, 0.31, 0.32, 0.33]
RATES = [0.05, 0.04, 0.08, 0.01]


class Script(keras.callbacks.Callback):
    """Puts SCORE into the logs."""

    def on_epoch_end(self, epoch, logs=None):
        logs["score"] = SCORE[epoch]


class Rates(keras.callbacks.Callback):
    def __init__(self, rates):
        super().__init__()
        self.rates = rates

    def on_epoch_end(self, epoch, logs=None):
        self.rates.append(float(self.model.optimizer.learning_rate))


# name, class, arguments
EFFECTS = [
    ("early", "EarlyStopping", {"patience": 2}),
    ("early_at_once", "EarlyStopping", {}),
    ("early_delta", "EarlyStopping", {"patience": 3, "min_delta": 0.05}),
    ("early_max", "EarlyStopping", {"patience": 1, "mode": "max"}),
    ("early_best", "EarlyStopping", {"patience": 3, "restore_best_weights": True}),
    ("early_baseline", "EarlyStopping", {"patience": 4, "baseline": 0.59, "restore_best_weights": True}),
    ("early_start", "EarlyStopping", {"patience": 1, "start_from_epoch": 3, "restore_best_weights": True}),
    ("early_never", "EarlyStopping", {"patience": 20, "restore_best_weights": True}),
    ("plateau", "ReduceLROnPlateau", {"patience": 2}),
    ("plateau_cooldown", "ReduceLROnPlateau", {"patience": 1, "factor": 0.5, "cooldown": 2}),
    ("plateau_floor", "ReduceLROnPlateau", {"patience": 1, "factor": 0.3, "min_lr": 0.01}),
    ("plateau_delta", "ReduceLROnPlateau", {"patience": 2, "factor": 0.5, "min_delta": 0.02, "mode": "min"}),
    ("plateau_max", "ReduceLROnPlateau", {"patience": 3, "factor": 0.5, "mode": "max"}),
    ("rates", "LearningRateScheduler", {}),
    ("averages", "SwapEMAWeights", {}),
    ("averages_on_epoch", "SwapEMAWeights", {"swap_on_epoch": True}),
    ("nan", "TerminateOnNaN", {}),
    ("csv", "CSVLogger", {"separator": ";"}),
]


def effect(name, kind, arguments):
    m, script, rates = model(), Script(), []
    epochs, more, path = len(SCORE), {}, None
    if kind == "SwapEMAWeights":
        epochs = 4
        m.compile(optimizer=keras.optimizers.SGD(0.05, use_ema=True, ema_momentum=0.8), loss="mse", metrics=["mae"])
    if kind == "TerminateOnNaN":
        m.compile(optimizer=keras.optimizers.SGD(1e20), loss="mse", metrics=["mae"])
    if kind in ("EarlyStopping", "ReduceLROnPlateau"):
        more = {"monitor": "score"} | ({} if "mode" in arguments else {"mode": "min"})
    if kind == "LearningRateScheduler":
        epochs, more = len(RATES), {"schedule": lambda epoch, rate: RATES[epoch]}
    if kind == "CSVLogger":
        path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
        epochs, more = 3, {"filename": str(path)}
    callback = getattr(keras.callbacks, kind)(**more, **arguments)
    history = m.fit(X, Y, callbacks=[script, callback, Rates(rates)], **{**SPLIT, "epochs": epochs}).history
    return {
        "name": name,
        "callback": kind,
        "arguments": arguments,
        "epochs": epochs,
        "rates": rates,
        "history": {} if kind == "TerminateOnNaN" else {key: history[key] for key in ("loss", "mae", "val_loss", "val_mae")},
        "weights": [] if kind == "TerminateOnNaN" else [w.ravel().tolist() for w in m.get_weights()],
        "file": path.read_bytes().decode() if path else "",
    }


def effects():
    return {"score": SCORE, "rates": RATES, "cases": [effect(*row) for row in EFFECTS]}


def main():
    path = pathlib.Path(__file__).with_name("callbacks.json")
    if sys.argv[1:] == ["effects"]:
        golden = json.loads(path.read_text()) | {"effects": effects()}
        path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
        return
    golden = {
        "x": X.tolist(),
        "y": Y.tolist(),
        "weights": [{"shape": w.shape, "values": w.ravel().tolist()} for w in WEIGHTS],
        "cases": [run(*case) for case in CASES],
        "effects": effects(),
    }
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
