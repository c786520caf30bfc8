"""Every way to choose the backend, and none of them in the way of other backends."""
import json

import pytest
from conftest import PYTHON

SHOW = "import keras; print(keras.backend.backend(), type(keras.ops.ones(2)).__module__, keras.config.backend())"
BOOTSTRAP = f"import site; site.addsitedir({str(PYTHON)!r}); "  # reads plimsoll.pth, as at the start where it is installed


def test_environment_variable(run_python):
    assert run_python(BOOTSTRAP + SHOW, backend="plimsoll").split() == ["plimsoll", "plimsoll", "plimsoll"]


def test_keras_json(run_python, tmp_path):
    (tmp_path / "keras.json").write_text(json.dumps({"backend": "plimsoll"}))
    assert run_python(BOOTSTRAP + SHOW).split()[0] == "plimsoll"


def test_plimsoll_first(run_python):
    assert run_python("import plimsoll; " + SHOW).split()[0] == "plimsoll"


def test_keras_plimsoll_first(run_python):
    assert run_python("import keras_plimsoll; " + SHOW).split()[0] == "plimsoll"


def test_the_bootstrap_imports_only_the_standard_library(run_python):
    code = "import sys, keras_plimsoll_bootstrap; print([m for m in ('keras', 'numpy', 'plimsoll', 'jax') if m in sys.modules])"
    assert run_python(code, backend="plimsoll").strip() == "[]"


def test_other_backends_are_as_before(run_python):
    for backend, module in (("jax", "jaxlib"), ("numpy", "numpy")):
        shown = run_python(BOOTSTRAP + SHOW, backend=backend).split()
        assert shown[0] == backend and shown[1].split(".")[0] == module
    # plimsoll imported for its memory line alone
    assert run_python("import plimsoll; plimsoll.memory_use(); " + SHOW, backend="jax").split()[0] == "jax"


def test_the_numpy_backend_is_keras_own(run_python):
    code = BOOTSTRAP + "import keras; from keras.src.backend.numpy import core; print(core.__file__)"
    assert "keras/src/backend/numpy/core.py" in run_python(code, backend="numpy")


def test_an_unknown_device_is_an_error_with_words(run_python):
    code = "import plimsoll; from plimsoll import _native; t = _native.Trace(); t.compile([], [], device='cuda:77')"
    assert "cuda:77" in _error_of(run_python, code)


def _error_of(run_python, code):
    return run_python(f"try:\n    exec({code!r})\nexcept Exception as e:\n    print(e)")


def test_no_other_framework_is_imported(run_python):
    code = "import keras_plimsoll_bootstrap, keras, sys; print([m for m in ('jax', 'tensorflow', 'torch') if m in sys.modules]); import jax"
    assert run_python(code, backend="plimsoll").strip() == "[]"


ANEW = """
import sys, keras_plimsoll_bootstrap, numpy as np, keras
def fit():
    import keras
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    return keras.ops.add(model.layers[0].bias, 1.0).shape
assert fit() == (1,)
for name in [name for name in sys.modules if WHICH]:
    del sys.modules[name]
assert fit() == (1,) and sys.modules["keras"] is not keras
"""


@pytest.mark.parametrize("which", ["name.split('.')[0] == 'keras'", "name.startswith('keras')"])
def test_keras_can_be_imported_anew(run_python, which):
    run_python(ANEW.replace("WHICH", which), backend="plimsoll")
