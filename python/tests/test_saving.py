"""What is saved is read again, by us and by Keras on JAX."""

SAVE = """
import sys, numpy as np, plimsoll, keras
from keras import layers
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((6,)), layers.Dense(5, activation="relu"), layers.BatchNormalization(), layers.Dense(2)])
model.compile("adam", keras.losses.MeanSquaredError())
x = np.linspace(-1, 1, 60, dtype="float32").reshape(10, 6)
model.fit(x, np.ones((10, 2)), epochs=2, verbose=0)
model.save(sys.argv[1] + "/m.keras"); model.save(sys.argv[1] + "/m.h5"); model.save_weights(sys.argv[1] + "/m.weights.h5")
np.savez(sys.argv[1] + "/y.npz", y=model.predict(x, verbose=0), step=np.asarray(model.optimizer.iterations))
"""
LOAD = """
import sys, numpy as np, keras
x = np.linspace(-1, 1, 60, dtype="float32").reshape(10, 6)
saved = np.load(sys.argv[1] + "/y.npz")
for name in ("/m.h5", "/m.keras"):  # the last one goes on training: Keras itself cannot with an .h5
    model = keras.saving.load_model(sys.argv[1] + name)
    np.testing.assert_allclose(model.predict(x, verbose=0), saved["y"], rtol=1e-5, atol=1e-6)
    assert int(np.asarray(model.optimizer.iterations)) == int(saved["step"]), name
model.set_weights([np.zeros(w.shape) for w in model.weights])
model.load_weights(sys.argv[1] + "/m.weights.h5")
np.testing.assert_allclose(model.predict(x, verbose=0), saved["y"], rtol=1e-5, atol=1e-6)
model.fit(x, np.ones((10, 2)), verbose=0)
print(keras.backend.backend())
"""


def test_saved_models_open_on_both_backends(run_python, tmp_path):
    run_python(SAVE, tmp_path, backend="plimsoll")
    for backend in ("plimsoll", "jax"):
        assert run_python("import keras_plimsoll_bootstrap\n" + LOAD, tmp_path, backend=backend).strip() == backend
