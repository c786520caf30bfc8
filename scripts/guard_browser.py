"""JupyterLab in a real browser with a guarded kernel: a cell trains TensorFlow over the memory line, one dies, the
next one runs. Saves a picture and fails if the dialog "appears to have died" comes up. With `notebook` the same in
Notebook 7, without TensorFlow.

    python scripts/guard_browser.py docs/guard_jupyterlab.png     (jupyterlab, playwright, tensorflow; chromium)
    python scripts/guard_browser.py picture.png notebook          (notebook, playwright; chromium)
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import nbformat
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUARD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build")) / "bin" / "plimsoll-guard"
CELLS = [
    "import os; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\n"
    "import numpy as np, keras\n"
    "model = keras.Sequential([keras.Input((100, 100, 3)), keras.layers.Conv2D(64, 3, activation='relu'),\n"
    "                          keras.layers.Conv2D(64, 3), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(2)])\n"
    "model.compile('sgd', 'mse')\n"
    "def fit(n): return model.fit(np.zeros((n, 100, 100, 3), 'float32'), np.zeros((n, 2)), batch_size=n, verbose=0)",
    "try:\n    fit(512)   # wants several GB: over the line\nexcept Exception as e:\n    print('caught:', type(e).__name__)",
    "print('same kernel, small batch:', fit(4).history)",
    "import ctypes\nctypes.string_at(0)   # native code breaks",
    "print('and the notebook goes on:', 6 * 7)",
]


NOTEBOOK_CELLS = ["x = bytearray(8 << 30)   # over the line", "print('same kernel:', 1 + 1)", *CELLS[-2:]]


def main(picture, app="jupyterlab"):
    cells = CELLS if app == "jupyterlab" else NOTEBOOK_CELLS
    home = pathlib.Path(tempfile.mkdtemp())
    spec = home / "data" / "kernels" / "guarded"
    spec.mkdir(parents=True)
    (home / "work").mkdir()
    argv = [str(GUARD), "-f", "{connection_file}", "--name", "python3", "--language", "python", "--memory", "1500MiB",
            "--", sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3 (guarded)", "language": "python"}))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata["kernelspec"] = {"name": "guarded", "display_name": "Python 3 (guarded)", "language": "python"}
    nbformat.write(notebook, home / "work" / "nb.ipynb")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    environment = dict(os.environ, JUPYTER_DATA_DIR=str(home / "data"), JUPYTER_CONFIG_DIR=str(home / "config"),
                       JUPYTER_RUNTIME_DIR=str(home / "runtime"), XDG_STATE_HOME=str(home / "state"), HOME=str(home))
    server = subprocess.Popen([sys.executable, "-m", app, "--no-browser", "--allow-root", f"--port={port}",
                               "--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={home / 'work'}"],
                              env=environment, stdout=subprocess.DEVNULL, stderr=open(home / "log", "w"))
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=1)
                break
            except OSError:
                time.sleep(0.5)
        drive(f"http://127.0.0.1:{port}/" + ("lab/tree/nb.ipynb?reset" if app == "jupyterlab" else "notebooks/nb.ipynb"),
              picture, len(cells))
    finally:
        server.terminate()
        server.wait()
        print((home / "log").read_text()[-1500:], file=sys.stderr)
        shutil.rmtree(home, ignore_errors=True)


def drive(address, picture, cells):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1150, "height": 1010})
        page.goto(address, timeout=120_000)
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
        time.sleep(5)
        for news in page.get_by_role("button", name="No", exact=True).all():
            news.click()
        page.locator(".jp-Cell").first.click()
        for at in range(cells):
            page.keyboard.press("Shift+Enter")
            number = page.locator(".jp-Notebook .jp-Cell").nth(at).locator(".jp-InputArea-prompt")
            for _ in range(240):
                text = number.inner_text()
                if text.strip("[]: ").isdigit():
                    break
                if page.get_by_text("appears to have died").count():
                    raise SystemExit("the dialog says that the kernel appears to have died")
                time.sleep(0.5)
            print(f"cell {at + 1}: {text}")
            time.sleep(2)
        assert page.get_by_text("and the notebook goes on: 42").count(), "the last cell did not run"
        assert page.get_by_text("a segmentation fault").count(), "the death was not explained"
        assert not page.get_by_text("appears to have died").count()
        page.locator(".jp-Cell").last.scroll_into_view_if_needed()
        time.sleep(1)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
