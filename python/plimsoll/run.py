"""python -m plimsoll.run: a script or notebook written for tensorflow.keras, on Plimsoll. `plimsoll run` calls it."""
import argparse
import os
import runpy
import sys

EXAMPLES = """examples:
  plimsoll run train.py --epochs 3
  plimsoll run --memory 2GiB notebook.ipynb
  plimsoll run --output out.ipynb notebook.ipynb"""


def parser():
    made = argparse.ArgumentParser("plimsoll run", description="Run a script or a notebook written for tensorflow.keras, without TensorFlow.",
                                   epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--memory", metavar="LINE", help="the memory line, such as 2GiB or 60%%")
    made.add_argument("--shadow", action="store_true", help="take Plimsoll's tensorflow though TensorFlow is installed")
    made.add_argument("--output", metavar="FILE", help="where an executed notebook goes (default: the notebook itself)")
    made.add_argument("file", help="a .py or .ipynb file")
    made.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")
    return made


def main(argv=None):
    options = parser().parse_args(argv)
    if not os.path.isfile(options.file):
        return _fail(f"expected a script or notebook, got {options.file}: no such file")
    if options.output and not options.file.endswith(".ipynb"):
        return _fail("--output is for notebooks; a script writes its own files")
    problem = _shadowed(options)
    if problem:
        return _fail(problem)
    return run_notebook(options) if options.file.endswith(".ipynb") else run_script(options)


def _fail(text):
    print(f"plimsoll: [run] {text}", file=sys.stderr)
    return 1


def _shadowed(options):
    """Why not, if TensorFlow is installed and the script would get it."""
    from plimsoll_tensorflow import installed_tensorflow

    from plimsoll import check

    real = installed_tensorflow()
    if real is None or options.shadow:
        return None
    try:
        uses = check.uses_tensorflow(check.sources(options.file))
    except (SyntaxError, ValueError):
        uses = True
    return f"TensorFlow is installed here ({real}) and {options.file} imports it; to run on Plimsoll all the same: plimsoll run --shadow" \
        if uses else None


def _begin(memory, shadow):
    import plimsoll
    from plimsoll_tensorflow import installed_tensorflow

    if memory:
        plimsoll.set_memory_limit(memory)
    if shadow or installed_tensorflow() is None:
        plimsoll.install_tensorflow(shadow=shadow)


def run_script(options):
    _begin(options.memory, options.shadow)
    sys.argv = [options.file, *options.args]
    sys.path[0] = os.path.dirname(os.path.abspath(options.file))
    runpy.run_path(options.file, run_name="__main__")
    return 0


def run_notebook(options):
    try:
        import nbformat
        from nbclient import NotebookClient
        from nbclient.exceptions import CellExecutionError
    except ImportError as error:
        return _fail(f"notebooks need nbclient and ipykernel ({error}): {sys.executable} -m pip install nbclient ipykernel")
    opening = (f"import sys; sys.argv = {[options.file, *options.args]!r}; import plimsoll.run; "
               f"plimsoll.run._begin({options.memory!r}, {options.shadow!r})")

    class Client(NotebookClient):
        """Prepares the kernel before the first cell; nothing of it is seen in the notebook."""

        async def async_start_new_kernel_client(self, **kwargs):
            client = await super().async_start_new_kernel_client(**kwargs)
            reply = await client.execute(opening, silent=True, store_history=False, reply=True)
            if reply["content"]["status"] != "ok":
                raise RuntimeError(f"{reply['content'].get('ename')}: {reply['content'].get('evalue')}")
            return client

    os.environ["KERAS_BACKEND"] = "plimsoll"
    notebook = nbformat.read(options.file, as_version=4)
    folder = os.path.dirname(os.path.abspath(options.file))
    client = Client(notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": folder}})
    try:
        client.execute()
    except CellExecutionError as error:
        _save(notebook, options)
        return _fail(f"{options.file}: a cell failed\n{error}")
    except RuntimeError as error:
        return _fail(f"{options.file}: the kernel could not be prepared: {error}")
    _save(notebook, options)
    return 0


def _save(notebook, options):
    import nbformat

    path = options.output or options.file
    nbformat.write(notebook, path + ".tmp")
    os.replace(path + ".tmp", path)
    print(f"plimsoll: wrote {path} with its outputs", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
