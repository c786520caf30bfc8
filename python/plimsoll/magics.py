"""%load_ext plimsoll: %plimsoll and %%plimsoll, the memory line under the progress bar of `fit`, and, where no TensorFlow is installed, ours."""
import ast
import os
import subprocess
import sys
import threading
import time

import plimsoll_tensorflow
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, cell_magic, magics_class
from IPython.display import display

from plimsoll import memory
from plimsoll._native import memory_text
from plimsoll.live import LiveLine, line_html, line_text

USAGE = """%plimsoll memory 2GiB    draws the memory line (60%, 300MB, none); without a size says where it is
%plimsoll status         memory, the line, the backend, the guard
%plimsoll doctor         what would crash in this Python environment
%%plimsoll               time and memory of a cell"""


class Shown:
    """Text, and HTML where it is shown."""

    def __init__(self, text, html):
        self.text, self.html = text, html

    def _repr_pretty_(self, printer, cycle):
        printer.text(self.text)

    def _repr_html_(self):
        return self.html


def backend_text():
    keras = sys.modules.get("keras")
    return "Keras has not been imported" if keras is None else f"Keras {keras.__version__} on {keras.backend.backend()}"


def status():
    use = memory.memory_use()
    rest = [backend_text(), "this kernel is guarded" if "PLIMSOLL_GATE" in os.environ else "this kernel is not guarded (plimsoll kernel install)"]
    return Shown("\n".join([line_text(use), *rest]), "<br>".join([line_html(use), *rest]))


class Watch:
    """The most that is held while a cell runs, read every few milliseconds."""

    SECONDS = 0.02

    def __enter__(self):
        self.before, self.begin, self.stop = memory.memory_use(), time.perf_counter(), threading.Event()
        self.engine, self.resident = self.before.engine, self.before.resident
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def read(self):
        while True:
            use = memory.memory_use()
            self.engine, self.resident = max(self.engine, use.engine), max(self.resident, use.resident)
            if self.stop.wait(self.SECONDS):
                return

    def __exit__(self, *error):
        self.seconds = time.perf_counter() - self.begin
        self.stop.set()
        self.thread.join()
        self.after = memory.memory_use()

    def text(self):
        process = f"process {memory_text(self.before.resident)} -> {memory_text(self.after.resident)}, at most {memory_text(self.resident)}"
        engine = f"engine {memory_text(self.before.engine)} -> {memory_text(self.after.engine)}, at most {memory_text(self.engine)}"
        return f"{self.seconds:.3f} s; {engine}; {process}"


@magics_class
class PlimsollMagics(Magics):
    @line_magic
    def plimsoll(self, line):
        command, *words = line.split() or [""]
        if command == "memory" and len(words) <= 1:
            return self.memory(*words)
        if command == "status" and not words:
            return status()
        if command == "doctor":
            return self.doctor(words)
        raise UsageError(f"expected memory, status or doctor, got {line!r}\n{USAGE}")

    def memory(self, size=None):
        if size is not None:
            memory.set_memory_limit(None if size == "none" else size)
        return status()

    def doctor(self, words):
        from plimsoll_program import find_program
        command = [find_program(), "doctor", "--no-colour", "--env", sys.prefix, *words]
        print(subprocess.run(command, capture_output=True, text=True).stdout, end="")

    @cell_magic("plimsoll")
    def plimsoll_cell(self, line, cell):
        if line.strip():
            raise UsageError(f"expected %%plimsoll alone on its line, got {line!r}\n{USAGE}")
        try:
            with Watch() as watch:
                self.run(cell)
        finally:
            print(watch.text())

    def run(self, cell):
        """As the shell would: the value of the last expression is displayed, and an error passes."""
        code = self.shell.transform_cell(cell)
        tree, name = ast.parse(code), self.shell.compile.cache(code, self.shell.execution_count, raw_code=cell)
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(self.shell.compile(tree, name, "exec"), self.shell.user_ns)
        if last is not None:
            self.shell.displayhook(eval(self.shell.compile(last, name, "eval"), self.shell.user_ns))


live_line = None


def load_ipython_extension(shell):
    global live_line
    shell.register_magics(PlimsollMagics)
    plimsoll_tensorflow.offer()
    if live_line is None and hasattr(shell, "kernel"):  # a display that changes needs a notebook
        live_line = LiveLine(display)
        shell.events.register("post_run_cell", live_line.finish)


def unload_ipython_extension(shell):
    global live_line
    plimsoll_tensorflow.withdraw()
    if live_line is not None:
        shell.events.unregister("post_run_cell", live_line.finish)
        live_line.remove()
        live_line = None
