"""The last act of the demo: a guarded kernel, started by nbclient, runs a cell that exhausts memory and one that dies,
prints the explained error, then runs the next cell.

    python scripts/guard_demo.py      (ipykernel, nbclient)
"""
import json
import os
import pathlib
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUARD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build")) / "bin" / "plimsoll-guard"
CELLS = ["x = bytearray(8 << 30)   # over the line of 1 GiB", "print('the same kernel goes on')",
         "import ctypes\nctypes.string_at(0)   # native code breaks", "print('and so does the notebook')"]


def main():
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(JUPYTER_DATA_DIR=home, XDG_STATE_HOME=home)
        spec = pathlib.Path(home) / "kernels" / "guarded" / "kernel.json"
        spec.parent.mkdir(parents=True)
        argv = [str(GUARD), "-f", "{connection_file}", "--language", "python", "--memory", "1GiB", "--",
                sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec.write_text(json.dumps({"argv": argv, "display_name": "guarded", "language": "python"}))
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
        NotebookClient(notebook, kernel_name="guarded", timeout=120, allow_errors=True).execute()
    for cell in notebook.cells:
        print("\n>>> " + cell.source.replace("\n", "\n... "))
        for output in cell.outputs:
            print("\n".join(output["traceback"]) if output["output_type"] == "error" else output.get("text", "").rstrip())
    texts = [o.get("text", "") for o in notebook.cells[3].outputs]
    return 0 if "and so does the notebook\n" in texts else 1


if __name__ == "__main__":
    sys.exit(main())
