"""Trainings in mixed_float16 under Keras's LossScaleOptimizer, step by step: writes loss_scale.json. JAX backend.

Gradients stay far from float16's largest number except in the steps that are to overflow, so that roundings decide
nothing."""

import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
import numpy as np  # noqa: E402

ROWS, FEATURES, STEPS = 16, 4, 20
RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(STEPS, ROWS, FEATURES)).astype("float32")
Y = np.tanh(X.sum(axis=2, keepdims=True)).astype("float32")
SHAPES = [(FEATURES, 8), (8,), (8, 1), (1,)]
WEIGHTS = [(RANDOM.normal(size=shape) * 0.4).astype("float32") for shape in SHAPES]
OVERFLOWS = [6, 13, 14]
for step in OVERFLOWS:
    Y[step] *= 30000.0


def scaled(inner, **arguments):
    return keras.optimizers.LossScaleOptimizer(inner, **arguments)


CASES = {
    "adam": lambda: keras.optimizers.Adam(0.02),
    "sgd_momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    "adamw_ema": lambda: keras.optimizers.AdamW(0.02, use_ema=True, ema_momentum=0.8),
    "adam_clipped": lambda: keras.optimizers.Adam(0.02, global_clipnorm=0.5),
    "grows": lambda: scaled(keras.optimizers.SGD(0.1), initial_scale=64.0, dynamic_growth_steps=3),
    "scheduled": lambda: scaled(
        keras.optimizers.RMSprop(keras.optimizers.schedules.ExponentialDecay(0.05, 4, 0.5)), dynamic_growth_steps=5
    ),
}


def run(optimizer):
    keras.config.set_dtype_policy("mixed_float16")
    m = keras.Sequential(
        [keras.Input((FEATURES,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)]
    )
    m.set_weights(WEIGHTS)
    m.compile(optimizer=optimizer(), loss="mse")
    steps = []
    for x, y in zip(X, Y):
        loss = m.train_on_batch(x, y, return_dict=True)["loss"]
        steps.append(
            {
                "loss": float(loss),
                "scale": float(m.optimizer.dynamic_scale.numpy()),
                "count": int(m.optimizer.step_counter.numpy()),
                "iterations": int(m.optimizer.iterations.numpy()),
            }
        )
    return {"steps": steps, "weights": [w.ravel().tolist() for w in m.get_weights()]}


def main():
    golden = {
        "x": X.ravel().tolist(),
        "y": Y.ravel().tolist(),
        "shapes": SHAPES,
        "weights": [w.ravel().tolist() for w in WEIGHTS],
        "cases": {name: run(optimizer) for name, optimizer in CASES.items()},
    }
    path = pathlib.Path(__file__).with_name("loss_scale.json")
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
