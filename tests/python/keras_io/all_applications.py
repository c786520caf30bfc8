"""All architectures of keras.applications with random weights: ours against Keras, largest difference over largest output.

    python tests/python/keras_io/all_applications.py [NAME ...]     some seven minutes; needs keras_io_tool in build/bin
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from conftest import Tool  # noqa: E402  (chooses the backend)

import keras  # noqa: E402
import numpy as np  # noqa: E402

LIMIT = 1e-4
# With variances near 1 the untrained EfficientNetV2 blow up to logits of 1e6, where TensorFlow and torch, too, differ by half.
CALM = "EfficientNetV2"
names = sys.argv[1:] or [n for n in dir(keras.applications) if n[0].isupper() and callable(getattr(keras.applications, n))]
program = pathlib.Path(__file__).parents[3] / "build/bin/keras_io_tool"
bad = []
for name in names:
    keras.backend.clear_session()
    make = getattr(keras.applications, name)
    try:
        model = make(weights=None, input_shape=(96, 96, 3), classes=10)
    except ValueError:  # has a smallest or only size
        model = make(weights=None, classes=10)
    random = np.random.default_rng(0)
    for w in model.weights:  # as after training: nothing is 0 or 1
        if w.path.endswith("moving_variance"):
            w.assign(random.uniform(0.5, 1.5, w.shape) * (20 if name.startswith(CALM) else 1))
        elif w.path.endswith(("moving_mean", "beta", "bias")):
            w.assign(random.normal(0, 0.1, w.shape))
    x = random.uniform(-1, 1, (2, *model.inputs[0].shape[1:])).astype("float32")
    want = np.asarray(model.predict(x, verbose=0))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        model.save(path / "m.keras")
        got = Tool(program, path).predict(path / "m.keras", [x])[0]
    error = float(np.abs(got - want).max() / np.abs(want).max())
    print(f"{name:24} {error:.1e}", flush=True)
    if not error <= LIMIT:
        bad.append(name)
sys.exit(f"over {LIMIT}: {', '.join(bad)}" if bad else 0)
