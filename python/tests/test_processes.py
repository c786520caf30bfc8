"""Processes and threads beside the engine: every start method of multiprocessing, workers of a PyDataset, threads that train at once;
copies and pickles of tensors, variables and models; reloading."""
import pathlib

import pytest

MODEL = """
import numpy as np, keras, multiprocessing as mp
from keras import layers
rng = np.random.default_rng(0)
x, y = rng.random((64, 4)), rng.random((64, 1))
def make():
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
    model.compile("adam", "mse")
    return model
"""

STARTED = MODEL + """
def child(queue):
    losses = make().fit(x, y, epochs=3, verbose=0).history["loss"]
    queue.put(losses[-1] < losses[0])
if __name__ == "__main__":
    import sys
    model = make()
    model.fit(x, y, verbose=0)  # the engine's threads are there, and its Programs
    context = mp.get_context(sys.argv[1])
    queue = context.Queue()
    children = [context.Process(target=child, args=(queue,)) for _ in range(2)]
    for c in children: c.start()
    print([queue.get(timeout=300) for _ in children])
    for c in children: c.join()
    print([c.exitcode for c in children], model.fit(x, y, verbose=0).history["loss"][0] > 0)
"""

DATASET = MODEL + """
class Rows(keras.utils.PyDataset):
    def __len__(self): return 16
    def __getitem__(self, i):
        scaled = keras.ops.convert_to_numpy(keras.ops.convert_to_tensor(x[4 * i:4 * i + 4]) * 2.0)  # the engine, in the worker
        return scaled, y[4 * i:4 * i + 4]
if __name__ == "__main__":
    import sys
    data = Rows(workers=3, use_multiprocessing=sys.argv[1] == "processes", max_queue_size=4)
    model = make()
    losses = model.fit(data, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0], losses
    np.testing.assert_allclose(model.evaluate(data, verbose=0), model.evaluate(x * 2.0, y, batch_size=4, verbose=0), rtol=1e-5)
    print("equal")
"""

THREADS = MODEL + """
import threading
models, found = [make() for _ in range(4)], []
weights = models[0].get_weights()
for m in models: m.set_weights(weights)
def train(model): found.append(model.fit(x, y, epochs=3, shuffle=False, verbose=0).history["loss"])
def eager():
    for i in range(200): assert float(keras.ops.sum(keras.ops.ones((10,)) * float(i))) == 10.0 * i
threads = [threading.Thread(target=train, args=(m,)) for m in models] + [threading.Thread(target=eager) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
assert len(found) == 4
for losses in found: np.testing.assert_allclose(losses, found[0], rtol=1e-6)
print("equal")
"""

COPIES = MODEL + """
import copy, pickle
model = make()
model.fit(x, y, verbose=0)
ways = {"pickle": lambda o: pickle.loads(pickle.dumps(o)), "deepcopy": copy.deepcopy}
for name, way in ways.items():
    tensor = keras.ops.convert_to_tensor(x)
    np.testing.assert_array_equal(way(tensor), tensor)
    half = keras.ops.cast(tensor, "bfloat16")
    assert way(half).dtype == "bfloat16"
    weight = way(model.weights[0])
    weight.assign(weight + 1.0)
    np.testing.assert_allclose(np.asarray(weight), np.asarray(model.weights[0]) + 1.0, rtol=1e-6)
    twin = way(model)
    before = model.predict(x, verbose=0)
    np.testing.assert_array_equal(twin.predict(x, verbose=0), before)
    twin.fit(x, y, epochs=3, verbose=0)
    np.testing.assert_array_equal(model.predict(x, verbose=0), before)  # no bytes in common
print("equal")
"""

RELOAD = MODEL + """
import importlib, plimsoll
model = make()
model.fit(x, y, verbose=0)
error = plimsoll.MemoryLineError
importlib.reload(plimsoll)
assert plimsoll.MemoryLineError is error  # who catches it goes on catching it
model.fit(x, y, verbose=0)
keras.config.set_backend("plimsoll")
from keras import layers
import keras
assert keras.backend.backend() == "plimsoll"
make().fit(x, y, verbose=0)
print("equal")
"""


def run_file(run_python, tmp_path, code, *words):
    """As a file: what spawn starts imports it."""
    program = pathlib.Path(tmp_path) / "program.py"
    program.write_text("import keras_plimsoll_bootstrap\n" + code)
    return run_python(program, *words, backend="plimsoll").splitlines()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_train_and_so_does_the_parent(run_python, tmp_path, method):
    assert run_file(run_python, tmp_path, STARTED, method) == ["[True, True]", "[0, 0] True"]


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_workers_of_a_dataset_may_use_the_engine(run_python, tmp_path, kind):
    assert run_file(run_python, tmp_path, DATASET, kind)[-1] == "equal"


@pytest.mark.parametrize("code", [THREADS, COPIES, RELOAD], ids=["threads", "copies", "reload"])
def test_in_one_process(run_python, tmp_path, code):
    assert run_file(run_python, tmp_path, code)[-1] == "equal"


DAEMON = "import plimsoll\n" + MODEL + """
import threading, time
model = keras.Sequential([keras.Input((64,)), layers.Dense(256, activation="relu"), layers.Dense(256), layers.Dense(1)])
model.compile("adam", "mse")
x, y = np.zeros((200000, 64), "float32"), np.zeros((200000, 1), "float32")
model.fit(x[:64], y[:64], verbose=0)
threading.Thread(target=lambda: model.fit(x, y, verbose=0), daemon=True).start()  # seconds of it in the engine
time.sleep(0.5)
print("ends", flush=True)
"""


def test_a_process_ends_while_a_daemon_thread_trains(run_python):
    assert run_python(DAEMON).strip().endswith("ends")
