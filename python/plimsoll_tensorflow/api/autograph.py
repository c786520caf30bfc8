from plimsoll_tensorflow import hints as _hints


def set_verbosity(level, alsologtostdout=False):
    pass


class experimental:
    @staticmethod
    def do_not_convert(func=None):
        return (lambda f: f) if func is None else func


__getattr__ = _hints.getter("autograph")
