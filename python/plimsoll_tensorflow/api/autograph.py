from plimsoll_tensorflow import hints as _hints


def set_verbosity(level, alsologtostdout=False):
    pass


class experimental:
    """What AutoGraph is told: there is none, loops in Python run as they are written."""

    class Feature:
        ALL = "ALL"
        AUTO_CONTROL_DEPS = ASSERT_STATEMENTS = BUILTIN_FUNCTIONS = EQUALITY_OPERATORS = LISTS = NAME_SCOPES = "AUTO"

    @staticmethod
    def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
        pass

    @staticmethod
    def do_not_convert(func=None):
        return (lambda f: f) if func is None else func


def to_code(entity, recursive=True, experimental_optional_features=None):
    """The function's own source: it runs as it is written."""
    import inspect

    return inspect.getsource(getattr(entity, "python_function", entity))


def trace(*args):
    print(*args)


__getattr__ = _hints.getter("autograph")
