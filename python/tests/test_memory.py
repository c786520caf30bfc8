"""The memory line: a step that would cross it is refused with the numbers, and everything goes on; nothing grows."""

REFUSED = """
import numpy as np, plimsoll, keras
from keras import layers
model = keras.Sequential([keras.Input((1000,)), layers.Dense(2000, activation="relu"), layers.Dense(2000, activation="relu"), layers.Dense(10)])
model.compile("adam", "mse")
x, y = np.zeros((8192, 1000), "float32"), np.zeros((8192, 10), "float32")
model.train_on_batch(x[:8], y[:8])
before = [np.array(w) for w in model.weights]
plimsoll.set_memory_limit(plimsoll.memory_use().engine + (150 << 20))
try:
    model.train_on_batch(x, y)
except plimsoll.MemoryLineError as e:
    print("refused:", e)
assert isinstance(plimsoll.MemoryLineError("x"), MemoryError)
for w, b in zip(model.weights, before):
    np.testing.assert_array_equal(w, b)
loss = model.fit(x[:256], y[:256] + 1, batch_size=64, epochs=2, verbose=0).history["loss"]
assert loss[1] < loss[0]
print("went on")
"""

GROWTH = """
import gc, resource, numpy as np, plimsoll, keras
from keras import layers
model = keras.Sequential([keras.Input((16,)), layers.Dense(32, activation="relu"), layers.Dropout(0.1), layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
x, y = np.random.rand(100, 16), np.random.rand(100, 1)
used, resident = [], []
for i in range(1000):
    model.fit(x, y, batch_size=32, verbose=0, validation_split=0.2)
    if i in (100, 999):
        gc.collect()
        used.append(plimsoll.memory_use().engine)
        resident.append(plimsoll.memory_use().resident)
print(used[1] - used[0], resident[1] - resident[0])
"""


def test_a_step_over_the_line_is_refused_and_training_goes_on(run_python):
    lines = run_python(REFUSED, backend="plimsoll").splitlines()
    assert lines[0].startswith("refused:") and lines[-1] == "went on"
    assert any(unit in lines[0] for unit in ("MiB", "GiB")), lines[0]


def test_a_thousand_fits_leave_nothing_behind(run_python):
    engine, resident = map(int, run_python(GROWTH, backend="plimsoll").split())
    assert engine == 0
    assert resident < 4 << 20
