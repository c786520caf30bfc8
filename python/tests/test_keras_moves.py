"""A Keras that has moved what the hook stands on is named as the cause, and other backends go on as if we were not there."""
import keras
import pytest

BEFORE = "import keras_plimsoll_bootstrap as b; "
SHOW = "\ntry:\n    import keras\n    print(keras.backend.backend())\nexcept ImportError as e:\n    print('ImportError:', e)"
MOVES = {
    "a module is gone": "b.AFTER['keras.src.gone'] = lambda module: None",
    "a name is gone": "b.AFTER['keras.src.trainers.trainer'] = lambda module: module.gone",
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_move_is_named(run_python, move):
    shown = run_python(BEFORE + move + SHOW, backend="plimsoll").strip()
    assert shown.startswith("ImportError: [plimsoll] this Keras is not as the backend expects it") and "gone" in shown and "3.11" in shown


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_other_backends_do_not_care(run_python, move):
    assert run_python(BEFORE + move + SHOW, backend="jax").strip() == "jax"


def test_this_keras_is_one_that_is_known():
    major, minor = map(int, keras.__version__.split(".")[:2])
    assert (3, 11) <= (major, minor) <= (3, 16), (
        f"Keras {keras.__version__} has never been tried: run python/tests/keras_versions.py {keras.__version__} and all of "
        "make test-keras, then change KNOWN in keras_plimsoll_bootstrap.py and this test")
