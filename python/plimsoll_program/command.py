"""The command `plimsoll` that pip puts beside Python."""
import os
import sys

from plimsoll_program import find_program


def environment(words):
    """The kernels and packages spoken of are those of the environment the command is in, activated or not."""
    if sys.prefix == sys.base_prefix or words[:1] == ["guard"]:
        return os.environ
    return {**os.environ, "VIRTUAL_ENV": sys.prefix}


def main():
    program, words = find_program(), sys.argv[1:]
    os.execve(program, [program, *words], environment(words))
