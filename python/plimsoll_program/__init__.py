"""The program `plimsoll` with its guard and the doctor, as the wheel carries it, and its doors for Python and Jupyter. Imports nothing of
the engine: a Jupyter server that loads the provisioner must not become one that trains.
"""
import pathlib
import shutil


def find_program(name="plimsoll"):
    """The program in this package, else on PATH, where the package is used from a source tree."""
    inside = pathlib.Path(__file__).resolve().parent / "bin" / name
    found = str(inside) if inside.exists() else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"[plimsoll] the program {name} is neither in this package nor on PATH: install the wheel, or build it "
                                "(make build) and put its folder on PATH")
    return found
