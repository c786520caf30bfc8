"""Every command that the README shows, run as it stands there, in its order. Run by ctest after everything is built, or by hand.

Only three things differ from what a reader does: the repository is the one that this file is in, HOME is an empty folder, and what
`make` would install is there already (`make test` has seen to that). `make test` itself is what runs this.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The doctor tells by its status what it found; 3 is that it could not examine.
FINE = {"doctor": (0, 1, 2)}


def blocks():
    """Lists of commands, one for each block without a language."""
    text = (ROOT / "README.md").read_text()
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if language:
            continue
        lines = block.replace("\\\n", " ").splitlines()
        yield [re.sub(r"\s+#.*", "", line) for line in lines]


def inline_commands():
    """Targets of make that the text names as what to run."""
    return sorted(set(re.findall(r"`(make (?:demo|guard|build))`", (ROOT / "README.md").read_text())))


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.place = pathlib.Path(self.folder.name)
        for name in ("build", "build-guard", "examples", "data"):
            (self.place / name).symlink_to(ROOT / name)
        home = self.place / "home"
        home.mkdir()
        cache = os.environ.get("CCACHE_DIR") or os.path.expanduser("~/.cache/ccache")
        self.environment = os.environ | {
            "HOME": str(home), "CCACHE_DIR": cache, "JUPYTER_DATA_DIR": str(home / "jupyter"), "CTEST_PARALLEL_LEVEL": "1",
            "JUPYTER_PATH": str(ROOT / ".venv/share/jupyter"), "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}

    def run_one(self, command):
        """make and cmake where the reader stands, in the repository; the rest where its files may lie about."""
        place = ROOT if command.startswith(("make", "cmake")) else self.place
        command = command.replace("<this repository>", str(ROOT))
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=place, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        words = re.findall(r"plimsoll (\w+)", command)
        self.assertIn(done.returncode, FINE.get(words[0] if words else "", (0,)), f"{command}\n{done.stdout[-3000:]}")
        return done.stdout

    def test_every_command_works_as_written(self):
        commands = [command for block in blocks() for command in block if command]
        self.assertGreater(len(commands), 8)
        out = {command: self.run_one(command) for command in commands}
        self.assertTrue((self.place / "plimsoll/Makefile").exists(), "the clone")
        self.assertTrue((ROOT / "build-guard/bin/plimsoll-guard").exists(), "make guard")
        self.assertTrue((self.place / "fashion.keras").exists() and (self.place / "curves.svg").exists(), "train")
        self.assertTrue((self.place / "probabilities.npy").exists(), "predict")
        self.assertTrue(list((self.place / "home/.local").rglob("PlimsollConfig.cmake")), "install")
        accuracy = re.search(r"accuracy: ([\d.]+)", next(o for c, o in out.items() if " evaluate " in c))
        self.assertGreater(float(accuracy[1]), 0.75)
        self.assertRegex(self.run_one("build-guard/bin/plimsoll kernel list"), r"python3-guarded +guards python3")

    def test_the_small_program_says_what_to_build_for_the_rest(self):
        self.run_one("make guard")
        done = subprocess.run([ROOT / "build-guard/bin/plimsoll", "train", "model.yaml", "--data", "x.npz"], text=True,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\[train\] expected .* engine.*make build")

    def test_what_the_text_says_to_run_works(self):
        self.assertIn("make demo", inline_commands())
        for command in inline_commands():
            self.run_one(command)
        self.assertTrue(list((ROOT / "build/demo").glob("*.svg")), "demo")


if __name__ == "__main__":
    unittest.main()
