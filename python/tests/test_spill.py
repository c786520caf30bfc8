"""set_memory_limit(spill=): what optimizers keep lies in files, and trains the same weights in less memory."""
import pathlib

import pytest

from plimsoll import _native

HEAD = """
import os, sys, threading, numpy as np, plimsoll, keras
from keras import layers
folder = sys.argv[1]
rng = np.random.default_rng(3)
x, y = rng.normal(size=(64, 1024)).astype("float32"), rng.normal(size=(64, 1)).astype("float32")

def wide_model(optimizer="adam"):  # 12 MiB of weights: 24 of slots, of which one layer's 8 are worked with at a time
    keras.utils.set_random_seed(5)
    model = keras.Sequential([keras.Input((1024,)), *[layers.Dense(1024, activation="relu") for _ in range(3)], layers.Dense(1)])
    model.compile(optimizer, "mse")
    return model

def train(model, epochs=3, **more):
    model.fit(x, y, batch_size=16, epochs=epochs, shuffle=False, verbose=0, **more)
    return model

def same(a, b):
    for v, w in zip([*a.weights, *a.optimizer.variables], [*b.weights, *b.optimizer.variables], strict=True):
        np.testing.assert_array_equal(v, w)
"""

BIT_BY_BIT = HEAD + """
for make in (lambda: "adam", lambda: keras.optimizers.SGD(0.01, momentum=0.9), lambda: keras.optimizers.AdamW(0.01, use_ema=True)):
    plimsoll.set_memory_limit(None)
    plain = train(wide_model(make()))
    before = plimsoll.memory_use().engine
    plimsoll.set_memory_limit(None, spill=folder)
    held = plimsoll.memory_use().engine  # the slots of the first have moved
    assert held < before - (8 << 20), (before, held)
    same(plain, train(wide_model(make())))
    assert plimsoll.memory_use().engine < held + (36 << 20)
print("same", os.listdir(folder))
"""

MOVES = HEAD + """
plain, spilled = train(wide_model()), train(wide_model())
train(plain)
value = spilled.optimizer.variables[2].value  # of the state as it is, whatever comes
was = np.array(value)
plimsoll.set_memory_limit(None, spill=folder)
train(spilled)
same(plain, spilled)
np.testing.assert_array_equal(value, was)
spilled.save(folder + "/model.keras")
loaded = keras.saving.load_model(folder + "/model.keras")
same(spilled, loaded)
plimsoll.set_memory_limit(None)
same(train(plain), train(loaded))
print("moved")
"""

UNDER_A_LINE = HEAD + """
plain = train(wide_model())
names = [w.path for w in plain.weights]
weights = plain.get_weights()
del plain
keras.utils.clear_session(free_memory=True)
model = wide_model()
line = plimsoll.memory_use().engine + (33 << 20)  # some 12 for code that training brings in
plimsoll.set_memory_limit(line)
try:
    train(model)
    sys.exit("fits without")
except plimsoll.MemoryLineError:
    pass
model = None
keras.utils.clear_session(free_memory=True)
plimsoll.set_memory_limit(None, spill=folder)
model = wide_model()
before = plimsoll.memory_use().resident
plimsoll.set_memory_limit(line, spill=folder)
forecast = plimsoll.forecast(model, 16)
assert forecast.state < 10 << 20, forecast
grown = []
train(model, callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: grown.append(plimsoll.memory_use().resident - before))])
assert plimsoll.memory_use().engine <= line
assert max(grown) < 26 << 20, max(grown)
for a, b in zip(model.get_weights(), weights):
    np.testing.assert_array_equal(a, b)
print("fits")
"""

FORKED = HEAD + """
plimsoll.set_memory_limit(None, spill=folder)
model = train(wide_model())
held = [np.array(v) for v in model.optimizer.variables]
child = os.fork()
if child == 0:
    code = 1
    try:
        for act in (lambda: model.train_on_batch(x, y), lambda: train(model), lambda: model.optimizer.variables[2].assign(np.ones((1024, 1024)))):
            try:
                act()
                os._exit(2)
            except NotImplementedError as error:
                assert "fork" in str(error), error
        train(wide_model())  # its own
        code = 0
    finally:
        os._exit(code)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for v, w in zip(model.optimizer.variables, held):
    np.testing.assert_array_equal(v, w)
"""

WHILE_IT_TRAINS = HEAD + """
plain = train(wide_model(), epochs=40)
model, began = wide_model(), threading.Event()
fit = threading.Thread(target=lambda: train(model, 40, callbacks=[keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: epoch == 3 and began.set())]))
fit.start()
began.wait()
plimsoll.set_memory_limit(None, spill=folder)
fit.join()
same(plain, model)
print("went on")
"""

REFUSED = HEAD + """
model = train(wide_model())
for bad, error in ((folder + "/none", LookupError), ("/dev/shm", ValueError)):
    try:
        plimsoll.set_memory_limit("1GiB", spill=bad)
        print("taken")
    except error as e:
        print(e)
assert plimsoll.memory_use().limit is None
same(train(model), train(wide_model(), 6))
"""


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "spilled"
    folder.mkdir()
    try:
        _native.check_spill(str(folder))
    except ValueError as error:
        pytest.skip(f"this machine: {error}")
    return folder


def test_the_same_weights_bit_by_bit_and_nothing_left_behind(run_python, disk):
    assert run_python(BIT_BY_BIT, disk, backend="plimsoll").strip() == "same []"


def test_state_that_is_there_moves_and_is_saved(run_python, disk):
    assert run_python(MOVES, disk, backend="plimsoll").strip() == "moved"


def test_fits_under_a_line_that_is_too_low_without(run_python, disk):
    assert run_python(UNDER_A_LINE, disk, backend="plimsoll").strip() == "fits"


def test_a_forked_child_cannot_change_what_its_parent_trains_with(run_python, disk):
    assert run_python(FORKED, disk, backend="plimsoll").strip() == "child 0"


def test_state_moves_while_another_thread_trains(run_python, disk):
    assert run_python(WHILE_IT_TRAINS, disk, backend="plimsoll").strip() == "went on"


def test_a_folder_that_cannot_be_is_refused_and_nothing_changes(run_python, disk):
    lines = run_python(REFUSED, disk, backend="plimsoll").splitlines()
    assert str(disk / "none") in lines[0] and "folder that exists" in lines[0]
    if pathlib.Path("/dev/shm").is_dir():
        assert "tmpfs" in lines[1]
