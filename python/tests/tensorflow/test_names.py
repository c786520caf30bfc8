"""The finder, what is missing, and names of Keras 2."""
import pathlib
import re
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

REAL = "import sys, types, importlib.machinery\n" \
    "class Real:\n" \
    "    def find_spec(name, path=None, target=None):\n" \
    "        return importlib.machinery.ModuleSpec(name, None, origin='/real/tensorflow') if name == 'tensorflow' else None\n" \
    "sys.meta_path.append(Real)\n"


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


def test_a_real_tensorflow_is_shadowed_only_if_asked():
    refused = run(REAL + "import plimsoll; plimsoll.install_tensorflow()")
    assert refused.returncode != 0 and "shadow=True" in refused.stderr
    done = run(REAL + "import plimsoll; plimsoll.install_tensorflow(shadow=True); import tensorflow as tf; print(tf.__version__)")
    assert "plimsoll" in done.stdout, done.stderr


def test_nothing_is_installed_by_importing_plimsoll():
    done = run("import sys, plimsoll; print('tensorflow' in sys.modules, 'plimsoll_tensorflow' in sys.modules)")
    assert done.stdout.split() == ["False", "False"], done.stderr


NONE = "import importlib.machinery as m\n" \
    "find = m.PathFinder.find_spec\n" \
    "m.PathFinder.find_spec = lambda name, *rest: None if name == 'tensorflow' else find(name, *rest)\n"
LOADED = "from IPython.core.interactiveshell import InteractiveShell\n" \
    "shell = InteractiveShell.instance()\n" \
    "shell.run_line_magic('load_ext', 'plimsoll')\n"


def test_the_extension_offers_ours_where_none_is_installed():
    done = run(NONE + LOADED + "import sys, importlib.util\nprint('keras' in sys.modules, importlib.util.find_spec('tensorflow') is not None)\n"
               "import tensorflow as tf\nprint(tf.__version__, tf.constant([1, 2]).dtype, tf.keras.layers.Dense(2)(tf.ones((1, 3))).shape)")
    assert done.stdout.splitlines()[-2:] == ["False True", f"{tf.__version__} <dtype: 'int32'> (1, 2)"], done.stderr


def test_the_extension_offers_nothing_to_keras():
    done = run(NONE + LOADED + "import keras\nfrom keras.src.utils.module_utils import tensorflow as lazy\nprint(lazy.available)")
    assert done.stdout.split()[-1:] == ["False"], done.stderr


def test_the_extension_leaves_a_real_tensorflow_alone_and_takes_its_offer_back():
    done = run(REAL + LOADED + "import importlib.util\nprint(importlib.util.find_spec('tensorflow').origin)")
    assert done.stdout.split()[-1:] != ["None"], done.stderr
    done = run(NONE + LOADED + "shell.run_line_magic('unload_ext', 'plimsoll')\nimport importlib.util\nprint(importlib.util.find_spec('tensorflow'))")
    assert done.stdout.split()[-1:] == ["None"], done.stderr


def test_a_missing_name_says_what_to_use():
    with pytest.raises(AttributeError, match="tf.saved_model is not covered.*model.save"):
        tf.saved_model
    with pytest.raises(AttributeError, match="tf.nn.fractional_max_pool is not covered.*keras.ops"):
        tf.nn.fractional_max_pool
    with pytest.raises(ModuleNotFoundError, match="import from tensorflow.keras"):
        import tensorflow.python.keras.layers  # noqa: F401
    with pytest.raises(AttributeError, match="not in Keras 3"):
        tf.keras.layers.NoSuchLayer
    assert not hasattr(tf, "contrib")


def test_the_documentation_lists_what_is_there_and_what_is_not():
    from plimsoll.check import is_covered

    text = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "tensorflow.md").read_text()
    covered, refused = text.split("## Covered")[1].split("## Memory")[0], text.split("## Not covered")[1]
    names = re.compile(r"`tf\.([\w.]+)`")
    assert [n for n in names.findall(covered) if not is_covered(n)] == []
    assert [n for n in names.findall(refused) if is_covered(n)] == []
    methods = re.findall(r"`(\w+)`", next(line for line in covered.splitlines() if line.startswith("| data")))
    assert [m for m in methods if not hasattr(tf.data.Dataset, m) and not hasattr(keras.utils, m)] == []


def test_generators_of_keras_2_have_a_hint():
    model = keras.Sequential([keras.layers.Dense(1)])
    with pytest.raises(AttributeError, match="model.fit takes generators"):
        model.fit_generator(iter([]))


def test_names_of_keras_2():
    from tensorflow.keras.layers.experimental import preprocessing
    from tensorflow.keras.optimizers import legacy
    from tensorflow.keras.utils import Sequence, to_categorical  # noqa: F401

    assert preprocessing.Rescaling is keras.layers.Rescaling
    assert tf.keras.layers.experimental.preprocessing.Normalization is keras.layers.Normalization
    optimizer = tf.keras.optimizers.legacy.Adam(lr=0.5)
    assert isinstance(optimizer, keras.optimizers.Adam) and float(optimizer.learning_rate) == 0.5
    assert float(legacy.SGD(learning_rate=1.0, decay=1.0).learning_rate) == 1.0
    assert tf.keras.losses.mean_squared_error is keras.losses.mean_squared_error
    assert tf.losses is tf.keras.losses and tf.keras.Model is keras.Model


def test_an_optimizer_of_legacy_trains():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.legacy.SGD(lr=0.1, decay=0.1), "mse")
    before = model.get_weights()[0]
    model.fit(np.ones((4, 2)), np.zeros(4), epochs=2, verbose=0)
    assert np.all(model.get_weights()[0] < before)
