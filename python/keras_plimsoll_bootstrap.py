"""Makes KERAS_BACKEND=plimsoll work with a Keras that has no place for backends of others.

Imported at the start of the interpreter (plimsoll.pth), so it uses nothing but the standard library, and does nothing unless Keras is
imported with the backend "plimsoll". Keras compares the backend's name in a few chains of `if` while it is imported: there it is told
"numpy", and what it then imports as its NumPy backend is keras_plimsoll (a facade in the flat layout of Keras 3). From the end of the
import on the name is "plimsoll" everywhere. A Keras with plug-ins (3.16) imports keras_plimsoll.src itself once its list of names has
ours.
"""
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types

KNOWN = "3.11 to 3.16"  # versions of Keras; python/tests/keras_versions.py
NAME, SLOT, PACKAGE = "plimsoll", "keras.src.backend.numpy", "keras_plimsoll.src"
MODULES = ("core", "math", "nn", "numpy", "linalg", "image")
LEAVES = {"layer": ("BackendLayer", "NumpyLayer"), "trainer": ("Trainer", "NumpyTrainer"),
          "export": ("SavedModelExportArchive", "NumpyExportArchive")}

posing = False  # Keras is being imported, and takes us for its NumPy backend


def add_name(module):
    """To a copy of the list of plug-ins: modules import it by value, some before the module of the list has run to its end."""
    plugins = getattr(module, "PLUGGABLE_BACKENDS", None)
    if plugins is not None:
        module.PLUGGABLE_BACKENDS = frozenset(plugins) | {NAME}
    return plugins is not None


def drop_stale():
    """Ours that stand on a Keras whose modules somebody has deleted, to import it anew."""
    before, now = (getattr(sys.modules.get(name), "KerasVariable", None) for name in
                   (f"{PACKAGE}.tensors", "keras.src.backend.common.variables"))
    if before is not None and before is not now:
        for name in [name for name in sys.modules if f"{name}.".startswith("keras_plimsoll.")]:
            del sys.modules[name]


def after_config(module):
    global posing
    drop_stale()
    if not add_name(module) and module._BACKEND == NAME:
        posing, module._BACKEND = True, "numpy"


def after_backend_utils(module):
    if add_name(module):
        return
    dynamic = getattr(module, "DynamicBackend", None)
    if dynamic is None or not posing:
        return
    there = dynamic.__getattr__

    def getattr_of(self, name):
        if self.__dict__.get("_backend") == NAME:
            return getattr(sys.modules["keras.src.backend"], name)
        return there(self, name)

    dynamic.__getattr__ = getattr_of
    set_there = dynamic.set_backend

    def set_backend(self, backend):
        if backend == NAME:
            self._backend = backend
        else:
            set_there(self, backend)

    dynamic.set_backend = set_backend


def moved(what):
    return ImportError(f"[plimsoll] this Keras is not as the backend expects it: {what}. Known to work is Keras {KNOWN}: install one of these "
                       "(pip install 'keras<3.17'), or a newer plimsoll")


def after_keras(module):
    global posing
    if not is_ours():
        return
    if posing:
        sys.modules["keras.src.backend.config"]._BACKEND = NAME
        posing = False
    missing = [name for name in AFTER if name not in sys.modules and name != "keras"]
    if missing:
        raise moved(f"it has no {', '.join(missing)}")


def is_ours():
    config = sys.modules.get("keras.src.backend.config")
    return posing or getattr(config, "_BACKEND", None) == NAME


def after_trainer(module):
    if is_ours() and not hasattr(module, "Trainer"):
        module.Trainer = module.BaseTrainer  # its name in 3.16


def after_history(module):
    if is_ours():
        importlib.import_module("plimsoll.history").install(module.History)


def after_composed(module):
    """Keras writes out what the engine has as one op."""
    if is_ours():
        importlib.import_module(f"{PACKAGE}.whole").install(module)


def after_global_state(module):
    """clear_session() gives the Programs of models that are still there back too."""
    clear = module.clear_session

    def clear_session(free_memory=True):
        steps = sys.modules.get(f"{PACKAGE}.steps")
        if steps is not None:
            steps.forget_all()
        clear(free_memory)
        if steps is not None and free_memory:
            sys.modules["plimsoll._native"].give_back_memory()

    clear_session.__doc__ = clear.__doc__
    vars(clear_session).update(vars(clear))
    module.clear_session = clear_session


AFTER = {"keras.src.backend.config": after_config, "keras.src.backend.common.global_state": after_global_state,
         "keras.src.utils.module_utils": add_name, "keras.src.utils.backend_utils": after_backend_utils,
         "keras.src.trainers.trainer": after_trainer, "keras.src.callbacks.history": after_history, "keras": after_keras}
AFTER |= dict.fromkeys(("keras.src.ops.nn", "keras.src.optimizers.adam", "keras.src.optimizers.sgd", "keras.src.optimizers.rmsprop"),
                       after_composed)


class RunAfter:
    """A loader that calls `then(module)` when the module has run."""

    def __init__(self, loader, then):
        self.loader, self.then = loader, then

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        try:
            self.then(module)
        except AttributeError as error:
            if os.environ.get("KERAS_BACKEND") == NAME or is_ours():
                raise moved(f"{module.__name__}: {error}") from error


class Facade:
    """Loads the package that Keras 3 expects in the place of its NumPy backend, and its leaves."""

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        leaf = module.__name__.removeprefix(SLOT).lstrip(".")
        if leaf:
            ours = importlib.import_module(f"{PACKAGE}.{leaf}")
            vars(module).update({k: v for k, v in vars(ours).items() if not k.startswith("__")})
            name, alias = LEAVES[leaf]
            setattr(module, alias, getattr(ours, name))
            return
        module.__path__ = []
        source = importlib.import_module(PACKAGE)
        ops = {name: importlib.import_module(f"{PACKAGE}.ops.{name}") for name in MODULES}
        random, rnn = (importlib.import_module(f"{PACKAGE}.{name}") for name in ("random", "rnn"))
        public = lambda m: {k: v for k, v in vars(m).items() if not k.startswith("_")}
        vars(module).update(public(ops["core"]) | public(source) | ops | {"random": random} | public(rnn))
        for constant in ("SUPPORTS_SPARSE_TENSORS", "SUPPORTS_RAGGED_TENSORS", "SUPPORTS_COMPLEX_DTYPES", "IS_THREAD_SAFE"):
            setattr(ops["core"], constant, getattr(source, constant))
        for name, ours in (ops | {"random": random, "rnn": rnn}).items():
            sys.modules[f"{SLOT}.{name}"] = ours


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if posing and (name == SLOT or (name.startswith(SLOT + ".") and name.removeprefix(SLOT + ".") in LEAVES)):
            return importlib.machinery.ModuleSpec(name, Facade(), is_package=name == SLOT)
        if posing and name == "jax":  # for orbax's sake Keras imports it wherever it is installed: a second and 100 MB
            raise ImportError("Keras is being imported with the backend plimsoll, which needs no jax")
        if name not in AFTER:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = RunAfter(spec.loader, AFTER[name])
        return spec


if not any(getattr(f, "__name__", "") == "Finder" and f.__module__ == __name__ for f in sys.meta_path):
    sys.meta_path.insert(0, Finder)
