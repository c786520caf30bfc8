"""python -m plimsoll.check: the names of TensorFlow that a script uses and Plimsoll does not cover, without running it."""
import argparse
import ast
import json
import sys
from collections import namedtuple

Use = namedtuple("Use", "line name")  # name: without `tensorflow.`; "" is the module itself
METHODS = ("fit_generator", "evaluate_generator", "predict_generator")
CELL_MAGIC = ("%", "!")


def sources(path):
    """[(where, text)]: a script is one, a notebook has one per code cell."""
    if not path.endswith(".ipynb"):
        with open(path, encoding="utf-8") as file:
            return [(path, file.read())]
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    texts = [(f"{path} cell {i}", "".join(cell["source"])) for i, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    return [(where, _without_magics(text)) for where, text in texts]


def _without_magics(text):
    if text.lstrip().startswith("%%") and not text.lstrip().startswith(("%%time", "%%capture", "%%plimsoll")):
        return ""
    return "\n".join(_without_magic(line) for line in text.splitlines())


def _without_magic(line):
    code = line.lstrip()
    return line[: len(line) - len(code)] + "pass" if code.startswith(CELL_MAGIC) else line


def uses_tensorflow(texts):
    return any(_module_of(node) for _, text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom)))


def _module_of(node):
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return any(name == "tensorflow" or name.startswith("tensorflow.") for name in names)


def _under(module):
    return module.removeprefix("tensorflow").lstrip(".")


class Names(ast.NodeVisitor):
    """Collects what a text uses of TensorFlow. `known` maps names of the script to names under tensorflow."""

    def __init__(self, known):
        self.known, self.uses, self.imports = known, [], []

    def visit_Import(self, node):
        for a in node.names:
            if a.name == "tensorflow" or a.name.startswith("tensorflow."):
                self.known[a.asname or "tensorflow"] = _under(a.name) if a.asname else ""
                self.imports.append(Use(node.lineno, _under(a.name)))

    def visit_ImportFrom(self, node):
        module = node.module or ""
        if node.level or not (module == "tensorflow" or module.startswith("tensorflow.")):
            return
        for a in node.names:
            name = f"{_under(module)}.{a.name}".lstrip(".") if a.name != "*" else _under(module)
            self.imports.append(Use(node.lineno, name))
            self.known[a.asname or a.name] = name

    def visit_Assign(self, node):
        """layers = tf.keras.layers"""
        chain = self._chain(node.value)
        if chain is not None and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.known[node.targets[0].id] = chain
        self.generic_visit(node)

    def visit_Attribute(self, node):
        chain = self._chain(node)
        if chain is None:
            if node.attr in METHODS:
                self.uses.append(Use(node.lineno, f"keras.models.Model.{node.attr}"))
            self.generic_visit(node)
        else:
            self.uses.append(Use(node.lineno, chain))

    def _chain(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.known:
            return None
        return ".".join(p for p in [self.known[node.id], *parts] if p)


def uses(texts):
    known, found = {}, []
    for where, text in texts:
        names = Names(known)
        names.visit(ast.parse(text))
        found += [(where, use) for use in dict.fromkeys(names.imports + names.uses)]
    return found


def is_covered(name):
    """Whether tensorflow.<name> is there; what comes after a class, a function or a value is not looked at."""
    import importlib
    import types

    from plimsoll_tensorflow import finder

    if name.startswith("keras.models.Model.") and name.rpartition(".")[2] in METHODS:
        return False
    here = importlib.import_module("plimsoll_tensorflow.api")
    path = "tensorflow"
    for part in name.split(".") if name else []:
        path += f".{part}"
        try:
            here = getattr(here, part)
        except AttributeError:
            target = finder.target_of(path)
            if target is None:
                return False
            here = importlib.import_module(target)
        if not isinstance(here, (types.ModuleType, type)):
            return True
    return True


def missing(texts):
    """[(where, line, name, what to use instead)]"""
    from plimsoll_tensorflow.hints import hint

    covered = {}
    rows = []
    for where, use in uses(texts):
        if use.name not in covered:
            covered[use.name] = is_covered(use.name)
        if not covered[use.name]:
            rows.append((where, use.line, use.name, hint(use.name)))
    return sorted(set(rows), key=lambda row: (row[0], row[1]))


def main(argv=None):
    parser = argparse.ArgumentParser("plimsoll check", description="List the names of TensorFlow that a script or notebook uses and Plimsoll does "
                                     "not cover, without running it.", epilog="example:\n  plimsoll check train.py notebook.ipynb",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="file", help="a .py or .ipynb file")
    options = parser.parse_args(argv)
    status = 0
    for path in options.files:
        status = max(status, _report(path))
    return status


def _report(path):
    import plimsoll_tensorflow

    try:
        texts = sources(path)
        if not uses_tensorflow(texts):
            print(f"{path}: does not import tensorflow")
            return 0
        plimsoll_tensorflow.prepare()
        rows = missing(texts)
    except (OSError, SyntaxError, ValueError, KeyError, TypeError) as error:
        print(f"plimsoll: [check] {path}: {error}", file=sys.stderr)
        return 2
    for where, line, name, instead in rows:
        print(f"{where}:{line}: tf.{name} is not covered. {instead}")
    print(f"{path}: {len(rows)} name{'' if len(rows) == 1 else 's'} not covered" if rows else f"{path}: all names are covered")
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main())
