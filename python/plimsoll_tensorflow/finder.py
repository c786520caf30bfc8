"""The import finder: `tensorflow...` becomes the modules of this package and of Keras. Nothing of them is under the name elsewhere."""
import contextlib
import importlib
import importlib.machinery
import importlib.util
import sys
import types

API, KERAS = "plimsoll_tensorflow.api", "keras._tf_keras.keras"
active = False


def is_ours(module):
    return module is not None and getattr(module, "__name__", "").startswith(API)


def target_of(name):
    """The module that `name` is, or None if there is none."""
    if name == "tensorflow":
        return API
    rest = name.removeprefix("tensorflow.")
    ours = f"{API}.{rest}"
    if rest.split(".")[0] != "keras":
        return ours if _exists(ours) else None
    from plimsoll_tensorflow import keras_names

    under = rest.removeprefix("keras").lstrip(".")
    return keras_names.alias(under) or next((m for m in (f"{KERAS}.{under}".rstrip("."), f"keras.{under}") if _exists(m)), None)


def _exists(name):
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, AttributeError, ValueError):
        return False


class Loader:
    """Puts the module itself into sys.modules under its second name."""

    def __init__(self, target):
        self.target = target

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        sys.modules[module.__name__] = importlib.import_module(self.target)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if not active or (name != "tensorflow" and not name.startswith("tensorflow.")):
            return None
        target = target_of(name)
        if target is None:
            from plimsoll_tensorflow.hints import hint

            raise ModuleNotFoundError(f"No module named '{name}' in Plimsoll's tensorflow. {hint(name.removeprefix('tensorflow.'))}", name=name)
        return importlib.machinery.ModuleSpec(name, Loader(target), is_package=True)


class Offer:
    """The last finder of all: asked for `tensorflow` when nothing else has it, it makes ours ready. Keras's own look for it is answered no."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if active or name != "tensorflow" or _asked_by("keras"):
            return None
        return importlib.machinery.ModuleSpec(name, OfferLoader(API), is_package=True)


class OfferLoader(Loader):
    def exec_module(self, module):
        from plimsoll_tensorflow import prepare

        sys.modules.pop(module.__name__)
        prepare()
        super().exec_module(module)


def _asked_by(package):
    """Whether the import that is under way was written in `package`."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == package


def offer():
    if Offer not in sys.meta_path:
        sys.meta_path.append(Offer)


def withdraw():
    if Offer in sys.meta_path:
        sys.meta_path.remove(Offer)


@contextlib.contextmanager
def paused():
    global active
    before, active = active, False
    try:
        yield
    finally:
        active = before


def install():
    global active
    active = True
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)
    from plimsoll_tensorflow import environment, keras_names, tensor

    tensor.install()
    keras_names.install()
    environment.apply()
