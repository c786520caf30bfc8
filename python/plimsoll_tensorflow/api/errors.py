from plimsoll_tensorflow import failures as _failures
from plimsoll_tensorflow import hints as _hints

globals().update({name: error for name, error in vars(_failures).items() if name.endswith("Error")})
__getattr__ = _hints.getter("errors")
