# The tool and the choice of a backend are those of the tests of files.
import importlib.util
import pathlib

_spec = importlib.util.spec_from_file_location("keras_io_conftest", pathlib.Path(__file__).parents[1] / "keras_io/conftest.py")
_shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_shared)
tool = _shared.tool
