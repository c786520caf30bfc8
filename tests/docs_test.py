"""Every block of code in docs/*.md and python/README.md runs as it stands there. Run by ctest, or by hand; `python` as an argument takes those in Python.

Blocks of a page follow each other: those in C++ are one program, those in Python one script, those for a shell one script, in a folder
with examples/, data/ and include/ of the repository, an empty HOME, and the programs on PATH. A block of another language is a model (yaml), a
build description (cmake) or what a program prints (text, c, ebnf); a block without a language is an error. An HTML comment
`<!-- cpp`, `<!-- python` or `<!-- sh` holds lines that the reader is spared.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build"))
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "python/README.md"]  # the pages of the site
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$|^<!-- (cpp|python|sh)\n(.*?)^-->$", re.DOTALL | re.MULTILINE)
NOT_RUN = {"text", "c", "ebnf", "cmake"}  # cmake: tests/find_package has the same lines
# make and ninja have run before this; the doctor tells by its status what it found, and 3 is that it could not examine; the tests
# need a TensorFlow, which the reader of tensorflow.md has not.
SHELL = """set -euo pipefail
make() { :; }
ninja() { :; }
plimsoll() {
  case "$1" in
    doctor) command plimsoll "$@" || [ $? -lt 3 ] ;;
    run) shift; command plimsoll run --shadow "$@" ;;
    *) command plimsoll "$@" ;;
  esac
}
"""
# Pages whose commands run elsewhere, and why.
ELSEWHERE = {"cuda.md": "needs a GPU: make test-cuda", "README.md": "python/tests/test_wheel*.py install the wheel in an environment of its own"}
NEED_EXTENSION = {"tensorflow.md"}
# Of a program of tests that a page names, a few tests: it is run whole by itself.
A_FEW_TESTS = {"GTEST_TOTAL_SHARDS": "400", "GTEST_SHARD_INDEX": "0"}


def blocks(page):
    """(language, title, text) of every block, hidden ones too."""
    for language, title, text, hidden, hidden_text in BLOCK.findall(page.read_text()):
        yield (hidden, "", hidden_text) if hidden else (language, title, text)


def of(page, language):
    return [text for name, title, text in blocks(page) if name == language and "title=" not in title]


def cpp_program(parts):
    """One program: what must stand outside of main() first, then the rest in order."""
    head, body = [], []
    for line in "".join(parts).splitlines():
        (head if re.match(r"#include|using namespace", line) else body).append(line)
    return "\n".join([*dict.fromkeys(head), "int main() {", *body, "}", ""])


class Docs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.place = pathlib.Path(self.folder.name)
        for name in ("examples", "data", "include"):
            (self.place / name).symlink_to(ROOT / name)
        (self.place / "build").symlink_to(BUILD)
        (self.place / "build-guard").symlink_to(BUILD)  # whose program can do all that the small one can
        home = self.place / "home"
        home.mkdir()
        python = ROOT / ".venv/bin"
        self.environment = os.environ | {
            "HOME": str(home), "JUPYTER_DATA_DIR": str(home / "jupyter"), "XDG_STATE_HOME": str(home / "state"),
            "PLIMSOLL_LIBEXEC": str(BUILD / "bin"), "JUPYTER_PATH": str(ROOT / ".venv/share/jupyter"), "PATH": f"{BUILD / 'bin'}:{python}:{os.environ['PATH']}"}

    def run_here(self, command, **more):
        done = subprocess.run(command, cwd=self.place, env=self.environment | more, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-4000:]}")
        return done.stdout

    def each_page(self, language, run, pages=PAGES):
        blocks_of = {page: of(page, language) for page in pages}
        self.assertTrue(any(blocks_of.values()), f"no page has a block in {language}")
        for page, parts in blocks_of.items():
            if parts:
                with self.subTest(page.name):
                    run(page, parts)

    def test_every_block_says_its_language(self):
        for page in PAGES:
            for language, _, text in blocks(page):
                self.assertIn(language, NOT_RUN | {"sh", "cpp", "python", "yaml"}, f"{page.name}: {text[:80]}")
            indented = re.search(r"\n\n(?:    |\t)\S.*", BLOCK.sub("", page.read_text()))
            self.assertIsNone(indented, f"{page.name}: a block of code that nothing runs")

    def test_programs(self):
        def run(page, parts):
            (self.place / "page.cpp").write_text(cpp_program(parts))
            self.run_here(["g++", "-std=c++20", "-O0", "-Wall", "-Werror", "-Wno-unused", f"-I{ROOT}/include", "page.cpp", "-o", "page",
                           f"-L{BUILD}/lib", "-lplimsoll", f"-Wl,-rpath,{BUILD}/lib"])
            self.run_here(["./page"])

        self.each_page("cpp", run)

    def run_commands(self, page, parts):
        (self.place / "page.sh").write_text(SHELL + "".join(parts))
        self.run_here(["bash", "page.sh"], **A_FEW_TESTS)

    def test_commands(self):
        self.each_page("sh", self.run_commands, [page for page in PAGES if page.name not in {*ELSEWHERE, *NEED_EXTENSION}])

    def test_models(self):
        def run(page, parts):
            for part in parts:
                (self.place / "model.yaml").write_text(part)
                self.run_here(["plimsoll", "plan", "model.yaml", "--batch", "8", "--loss", "mse"])

        self.each_page("yaml", run)

    def test_configurations(self):
        for page in PAGES:
            for language, title, text in blocks(page):
                if language == "python" and "title=" in title:
                    script = f"from traitlets.config import Config\nc = Config()\n{text}\nassert len(c) > 0\n"
                    self.run_here([str(ROOT / ".venv/bin/python"), "-c", script])

    def test_the_command_line_reference_is_what_the_program_says(self):
        page = ROOT / "docs/cli.md"
        text = "# The command line\n\nPrinted from the program itself, by `PLIMSOLL_WRITE_DOCS=1 python3 tests/docs_test.py`.\n"
        listing = self.run_here(["plimsoll", "--help"])
        names = re.findall(r"^  ([a-z]+) +\S", listing[listing.index("ommands:"):], re.MULTILINE)
        self.assertGreater(len(names), 10)
        for name in ["", *names]:
            said = self.run_here(["plimsoll", *name.split(), "--help"]).rstrip().replace(str(BUILD / "bin") + "/", "")
            text += f"\n## plimsoll {name}".rstrip() + f"\n\n```text\n{said}\n```\n"
        if os.environ.get("PLIMSOLL_WRITE_DOCS") == "1":
            page.write_text(text)
        self.assertEqual(page.read_text(), text, "PLIMSOLL_WRITE_DOCS=1 python3 tests/docs_test.py")


class PythonDocs(Docs):
    """Needs the extension: run by python/tests/test_docs.py."""

    def test_scripts(self):
        def run(page, parts):
            (self.place / "page.py").write_text("".join(parts))
            self.run_here([str(ROOT / ".venv/bin/python"), "page.py"], PYTHONPATH=str(ROOT / "python"))

        self.each_page("python", run)

    def test_commands(self):
        self.environment["PYTHONPATH"] = str(ROOT / "python")
        self.each_page("sh", self.run_commands, [page for page in PAGES if page.name in NEED_EXTENSION])


def load_tests(loader, tests, pattern):
    if "python" in sys.argv:
        return unittest.TestSuite([PythonDocs("test_scripts"), PythonDocs("test_commands")])
    return loader.loadTestsFromTestCase(Docs)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
