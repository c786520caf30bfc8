from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.api.compat import v1  # noqa: F401


def as_str(x, encoding="utf-8"):
    return x.decode(encoding) if isinstance(x, bytes) else x


def as_bytes(x, encoding="utf-8"):
    return x.encode(encoding) if isinstance(x, str) else x


as_text, as_str_any = as_str, lambda x, encoding="utf-8": as_str(x, encoding) if isinstance(x, (str, bytes)) else str(x)
__getattr__ = _hints.getter("compat")
