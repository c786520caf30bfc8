"""Whether a fix that the doctor printed may be run by a test: only commands known here, and only on files of the case."""

import os
import re
import shlex

SENTENCE = "a sentence, not a command"
MODULES = ("pip", "ensurepip", "venv", "ipykernel")
FILE_COMMANDS = ("rm", "mv", "cp", "ln", "chmod", "mkdir", "find", "gunzip")
# Options of pip, uv and venv that are followed by a path.
PATH_OPTIONS = ("--python", "-p", "--prefix", "--target", "--find-links", "-e")


def is_inside(path, root, cwd):
    """Whether it is the root or below; the last link is not followed: it is what rm and mv act on."""
    path = os.path.join(cwd, os.path.expanduser(path))
    return is_below(os.path.join(os.path.realpath(os.path.dirname(path.rstrip("/"))), os.path.basename(path.rstrip("/"))), root)


def is_below(path, root):
    root = os.path.realpath(root)
    return os.path.normpath(path) == root or os.path.normpath(path).startswith(root + os.sep)


def python_refusal(words, root, cwd):
    """`python ...` and `python -m pip ...`; the interpreter may be the system's only to make an environment."""
    own = "/" in words[0] and is_inside(words[0], root, cwd)
    if words[1:2] == ["-c"]:
        # The one edit of a kernelspec: a JSON file named as an argument.
        paths = words[3:]
        fits = own and words[2].startswith("import json,sys; p=sys.argv[1];") and len(paths) == 1 and is_inside(paths[0], root, cwd)
        return None if fits else "Python code that is not known"
    if words[1:2] != ["-m"] or len(words) < 3 or words[2] not in MODULES:
        return "a use of Python that is not known"
    if words[2] == "venv":
        return None if is_inside(words[-1], root, cwd) else "an environment elsewhere"
    if not own and "--python" not in words:
        return "a Python elsewhere"
    return options_refusal(words[3:], root, cwd)


def options_refusal(words, root, cwd):
    for option, value in zip(words, words[1:]):
        if option in PATH_OPTIONS and not is_inside(value, root, cwd):
            return f"{option} leads elsewhere"
    return None


def command_refusal(words, root, cwd):
    while words and re.fullmatch(r"[A-Z_][A-Z0-9_]*=.*", words[0]):
        words = words[1:]
    if not words:
        return None
    name = os.path.basename(words[0])
    if words[0] in ("export", "unset"):
        return None
    if re.fullmatch(r"python(3(\.\d+)?)?", name):
        return python_refusal(words, root, cwd)
    if words[0] == "uv":
        if words[1:2] == ["venv"]:
            return None if is_inside(words[-1], root, cwd) else "an environment elsewhere"
        known = words[1:2] == ["pip"] and words[2:3] in (["install"], ["uninstall"]) and "--python" in words
        return options_refusal(words[3:], root, cwd) if known else "a use of uv that is not known"
    if words[0] in FILE_COMMANDS:
        paths = [w for w in words[1:] if not w.startswith("-")]
        if words[0] == "chmod":
            paths = paths[1:]
        if words[0] == "find":
            paths = paths[:1]
        outside = [p for p in paths if not is_inside(p, root, cwd)]
        return f"{outside[0]} is not of the case" if outside else None if paths else "no file named"
    if words[0] == "git" and words[1:2] == ["-C"] and words[3:] == ["lfs", "pull"]:
        return None if is_inside(words[2], root, cwd) else "a repository elsewhere"
    return SENTENCE if not is_command(words) else f"{words[0]} is not a command known here"


def is_command(words):
    return words[0] in ("sudo", "apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman", "conda", "mamba", "docker", "ulimit", "df")


def refusal(fix, root, cwd):
    """Why `fix` must not be run in the case's folder `root`; None if it may."""
    if is_sentence(fix):
        return SENTENCE
    if re.search(r"[`<>|$\n]", re.sub(r"'[^']*'", "", fix.replace("'\\''", ""))):
        return "a shell's own signs in it"
    try:
        lexer = shlex.shlex(fix, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        words, commands = list(lexer), [[]]
    except ValueError as unreadable:
        return f"not readable by a shell: {unreadable}"
    for word in words:
        if word in (";", "&&"):
            commands.append([])
        elif re.fullmatch(r"[;&|]+", word):
            return "a shell's own signs in it"
        else:
            commands[-1].append(word)
    for command in filter(None, commands):
        reason = command_refusal(command, root, cwd)
        if reason:
            return reason
    return None


def is_sentence(fix):
    """Sentences begin with a capital letter and end with a full stop; Python for the notebook has a call and no shell command."""
    return bool(re.match(r"[A-Z][a-z]+ .*\.$", fix, re.S)) or bool(re.match(r"(keras|tf|pickle)\.[\w.]+\(", fix))
