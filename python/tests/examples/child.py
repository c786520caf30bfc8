"""Runs examples as they are, with synthetic data and few steps, and writes down what they trained: started by run.py.

Each line of the input is a task {"source", "result", "needs", "rows", "seconds"}; each runs in a process of its own, forked from this one
when Keras has been imported, in an empty folder. The backend is that of KERAS_BACKEND, whatever the example asks for; with
EXAMPLES_TENSORFLOW=ours `import tensorflow` is Plimsoll's.
"""
import functools
import json
import os
import pathlib
import resource
import runpy
import sys
import tempfile
import traceback
import types

EPOCHS, BATCHES, ROWS, PREDICTED = 2, 2, 16, 5000
seen = []  # what was trained and evaluated, in order


def numbers(x):
    """The floats in what Keras returned, by name."""
    import numpy as np

    if isinstance(x, dict):
        return {k: numbers(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [numbers(v) for v in x]
    return float(np.mean(np.asarray(x, dtype="float64"))) if x is not None else None


def rows_of(x, count):
    from keras.src import tree

    return tree.map_structure(lambda a: a[:count] if hasattr(a, "shape") or isinstance(a, list) else a, x)


def short(x, y):
    """x and y with few batches. Arrays are cut, a tf.data.Dataset ends early."""
    if hasattr(x, "take") and hasattr(x, "element_spec"):
        return x.take(BATCHES), y
    if hasattr(x, "__array__") or isinstance(x, (dict, list, tuple)):
        return rows_of(x, BATCHES * ROWS), None if y is None else rows_of(y, BATCHES * ROWS)
    return x, y


def short_batch(size, x):
    """Arrays come in small batches; a data set has batches of its own."""
    return ROWS if hasattr(x, "__array__") or isinstance(x, (dict, list, tuple)) else size


def shorten_fit(model_class):
    fit, evaluate, predict, on_batch = model_class.fit, model_class.evaluate, model_class.predict, model_class.train_on_batch

    @functools.wraps(fit)
    def short_fit(self, x=None, y=None, batch_size=None, epochs=1, *args, **kwargs):
        x, y = short(x, y)
        if hasattr(kwargs.get("sample_weight"), "__array__"):
            kwargs["sample_weight"] = kwargs["sample_weight"][: BATCHES * ROWS]
        held_out = kwargs.get("validation_data")
        if isinstance(held_out, tuple):
            kwargs["validation_data"] = rows_of(held_out, BATCHES * ROWS)
        elif held_out is not None:
            kwargs["validation_data"] = short(held_out, None)[0]
        for name in ("steps_per_epoch", "validation_steps"):
            if kwargs.get(name):
                kwargs[name] = min(kwargs[name], BATCHES)
        if short_batch(None, x) is None and not hasattr(x, "take") and "steps_per_epoch" not in kwargs:
            kwargs["steps_per_epoch"] = min(BATCHES, len(x)) if hasattr(x, "__len__") else BATCHES
        last = min(epochs, kwargs.get("initial_epoch", 0) + EPOCHS)
        history = fit(self, x, y, short_batch(batch_size, x), last, *args, **kwargs)
        rates = ("lr", "learning_rate")
        seen.append({"fit": {k: [float(v) for v in values] for k, values in history.history.items() if k not in rates}})
        return history

    @functools.wraps(evaluate)
    def short_evaluate(self, x=None, y=None, batch_size=None, *args, **kwargs):
        if kwargs.get("_use_cached_eval_dataset"):  # fit's own
            return evaluate(self, x, y, batch_size, *args, **kwargs)
        x, y = short(x, y)
        result = evaluate(self, x, y, short_batch(batch_size, x), *args, **kwargs)
        seen.append({"evaluate": numbers(result)})
        return result

    @functools.wraps(predict)
    def short_predict(self, x, *args, **kwargs):
        return predict(self, rows_of(x, PREDICTED) if short_batch(None, x) else x, *args, **kwargs)

    @functools.wraps(on_batch)
    def noted(self, *args, **kwargs):
        result = on_batch(self, *args, **kwargs)
        seen.append({"train_on_batch": numbers(result)})
        return result

    model_class.fit, model_class.evaluate, model_class.predict, model_class.train_on_batch = short_fit, short_evaluate, short_predict, noted


class Anything(types.ModuleType):
    """A module or object of which all can be asked and called: for what only shows things."""

    def __init__(self, name="anything"):
        super().__init__(name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args, **kwargs):
        return Anything()


def stub_what_shows():
    import keras
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.show = lambda *args, **kwargs: plt.close("all")
    keras.utils.plot_model = lambda *args, **kwargs: None  # by a program that may not be there
    for name in ("IPython", "IPython.display", "ipywidgets", "tensorflow_docs", "tensorflow_docs.vis"):
        sys.modules[name] = Anything(name)
    sys.modules["IPython"].version_info, sys.modules["IPython"].get_ipython = (9, 0), lambda: None  # as matplotlib asks


def run(source, result, needs, rows):
    import keras
    import numpy as np

    import data
    import portable_random

    for _ in range(2):  # the first one imports TensorFlow where it is installed, and that draws from numpy.random
        keras.utils.set_random_seed(1)
    generator = np.random.default_rng
    np.random.default_rng = lambda seed=None: generator(1 if seed is None else seed)
    if "import torch" in pathlib.Path(source).read_text():  # its loaders shuffle by numbers of their own
        import torch

        torch.manual_seed(1)
    portable_random.install()
    data.install(os.getcwd(), needs, rows)
    shorten_fit(keras.Model)
    sys.argv, error = [source], None
    try:
        runpy.run_path(source, run_name="__main__")
    except BaseException as e:  # SystemExit too: it is the example's end
        traceback.print_exc()
        places = [f.lineno for f in traceback.extract_tb(e.__traceback__) if f.filename == source]
        error = f"{type(e).__name__}: {e}"[:300] + (f" (line {places[-1]})" if places else "")
    with open(result, "w") as f:
        json.dump({"error": error, "seen": seen}, f)


def forked(task):
    log = os.open(task["result"].removesuffix(".json") + ".log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a program that asks gets no answer
    os.dup2(log, 1)
    os.dup2(log, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (task["seconds"], task["seconds"]))  # ends the process
    try:
        run(task["source"], task["result"], task["needs"], task["rows"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # threads of data loaders may go on


def main():
    if os.environ.get("EXAMPLES_TENSORFLOW") == "ours":
        import plimsoll

        plimsoll.install_tensorflow(shadow=True)
    import keras  # noqa: F401  once, for all
    import pandas  # noqa: F401

    stub_what_shows()
    for line in sys.stdin:
        task = json.loads(line)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            process = os.fork()
            if process == 0:
                os.chdir(folder)
                os.environ["HOME"] = folder
                forked(task)
            _, status = os.waitpid(process, 0)
        print(json.dumps({"status": status}), flush=True)


if __name__ == "__main__":
    main()
