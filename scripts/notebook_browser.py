"""JupyterLab in a real browser with the wheel: what %load_ext plimsoll, fit, a History and plimsoll.plan() show. Saves pictures, and fails
if something is not there. The kernel is the plain python3, guarded by one line of Jupyter's configuration.

    python scripts/notebook_browser.py folder      (the wheel, jupyterlab, playwright; chromium)
"""
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

CELLS = [
    "%load_ext plimsoll\n%plimsoll memory 300MiB",
    "import keras, numpy as np, plimsoll\nfrom keras import layers\n"
    "model = keras.Sequential([keras.Input((28, 28, 1)), layers.Conv2D(16, 3, activation='relu'), layers.MaxPooling2D(),\n"
    "                          layers.Flatten(), layers.Dense(64, activation='relu'), layers.Dense(10, activation='softmax')])\n"
    "model.compile('adam', 'sparse_categorical_crossentropy', metrics=['accuracy'])\n"
    "rng = np.random.default_rng(0)\ny = rng.integers(0, 10, 2000)\nx = rng.random((2000, 28, 28, 1)) + y[:, None, None, None] / 10",
    "plimsoll.plan(model, batch_size=256)",
    "history = model.fit(x, y, epochs=4, batch_size=64, validation_split=0.2)",
    "history",
    "try:\n    model.fit(np.zeros((20000, 28, 28, 1), 'float32'), np.zeros(20000), batch_size=20000)\n"
    "except plimsoll.MemoryLineError as e:\n    print(e)",
    "%%plimsoll\nmodel.evaluate(x, y, verbose=0)",
    "x = bytearray(64 << 30)   # over the guard's line",
    "%plimsoll status",
]
EXPECTED = ["of 300.0 MiB", "val_accuracy", "this kernel is guarded", "MemoryError"]


def write_notebook(folder):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / "nb.ipynb")


def start_server(home, port):
    environment = dict(os.environ, HOME=str(home), JUPYTER_DEFAULT_PROVISIONER_NAME="plimsoll")
    server = subprocess.Popen([sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=",
                               f"--ServerApp.root_dir={home / 'work'}"], env=environment, stdout=subprocess.DEVNULL, stderr=open(home / "log", "w"))
    for _ in range(240):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=1)
            return server
        except OSError:
            time.sleep(0.5)
    raise SystemExit((home / "log").read_text())


def drive(address, folder):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1150, "height": 1300})
        page.goto(address, timeout=240_000)
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=240_000)
        page.wait_for_timeout(8000)
        for news in page.get_by_role("button", name="No", exact=True).all():
            news.click()
        page.locator(".jp-Cell").first.click()
        for at in range(len(CELLS)):
            page.keyboard.press("Shift+Enter")
            number = page.locator(".jp-Notebook .jp-Cell").nth(at).locator(".jp-InputArea-prompt")
            for _ in range(1200):
                if number.inner_text().strip("[]: ").isdigit():
                    break
                page.wait_for_timeout(100)
                if at == 3:
                    page.screenshot(path=str(folder / "fit.png"))  # the last one taken while it runs stays
            print(f"cell {at + 1}: {number.inner_text()}", flush=True)
            page.wait_for_timeout(1500)
            page.locator(".jp-Notebook .jp-Cell").nth(at).scroll_into_view_if_needed()
            page.screenshot(path=str(folder / f"cell{at + 1}.png"))
        text = page.locator(".jp-Notebook").inner_text()
        missing = [words for words in EXPECTED if words not in text]
        browser.close()
    if missing:
        raise SystemExit(f"not shown: {missing}\n{text[-4000:]}")


def main(folder):
    folder, home = pathlib.Path(folder), pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    (home / "work").mkdir()
    write_notebook(home / "work")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    server = start_server(home, port)
    try:
        drive(f"http://127.0.0.1:{port}/lab/tree/nb.ipynb?reset", folder)
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
