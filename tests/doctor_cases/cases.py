"""The list of cases. `names`: expressions that one finding must all match. `proof`: fails in the broken environment."""

import collections

Case = collections.namedtuple("Case", "name make names proof healthy fix real")
CASES = {}


def broken(name, names, proof=None, fix=True, real=True):
    """A broken environment; `fix` says that a command can repair it, tried where there is a proof."""

    def add(make):
        CASES[name] = Case(name, make, [names] if isinstance(names, str) else names, proof, False, fix and proof is not None, real)
        return make

    return add


def healthy(name, proof=None, real=True):
    def add(make):
        CASES[name] = Case(name, make, [], proof, True, False, real)
        return make

    return add
