"""Keras calls its backend's functions by name: all that its JAX and TensorFlow backends both have must be here, with their parameters."""
import ast
import importlib
import importlib.util
import inspect
import pathlib

import pytest

MODULES = ("core", "math", "nn", "numpy", "linalg", "image", "random", "rnn")


def functions(backend, module):
    """The public functions of one of Keras's own backends: names and parameters, read without importing it."""
    source = pathlib.Path(importlib.util.find_spec("keras").submodule_search_locations[0]) / "src" / "backend" / backend / f"{module}.py"
    found = [n for n in ast.parse(source.read_text()).body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    return {n.name: [a.arg for a in n.args.posonlyargs + n.args.args] for n in found}


def ours(module):
    return importlib.import_module(f"keras_plimsoll.src.{'' if module in ('random', 'rnn') else 'ops.'}{module}")


@pytest.mark.parametrize("module", MODULES)
def test_every_function_of_jax_and_tensorflow_is_there(module):
    wanted = functions("jax", module).keys() & functions("tensorflow", module).keys()
    assert [name for name in sorted(wanted) if not hasattr(ours(module), name)] == []


@pytest.mark.parametrize("module", MODULES)
def test_parameters_have_the_names_and_places_that_keras_gives(module):
    jax, tensorflow, different = functions("jax", module), functions("tensorflow", module), []
    for name in sorted(jax.keys() & tensorflow.keys()):
        if jax[name] != tensorflow[name]:
            continue
        parameters = inspect.signature(getattr(ours(module), name)).parameters.values()
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            continue
        mine = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
        if mine[: len(jax[name])] != jax[name]:
            different.append(f"{name}{tuple(mine)} instead of {tuple(jax[name])}")
    assert different == []
