from plimsoll_tensorflow import hints as _hints

__getattr__ = _hints.getter("experimental")
