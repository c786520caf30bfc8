"""What the README shows is what is compiled, what exists and what was measured. Run by ctest, or by hand."""

import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
sys.path.insert(0, str(ROOT / "bench"))

import markdown


class Readme(unittest.TestCase):
    def test_the_cpp_example_is_the_one_that_is_compiled(self):
        shown = re.findall(r"```cpp\n(.*?)```", README, re.DOTALL)
        self.assertEqual(shown, [(ROOT / "examples/cnn.cpp").read_text()])

    def test_it_stays_short(self):
        self.assertLess(len(README.splitlines()), 150)

    def test_links_lead_somewhere(self):
        pages = ["README.md", "CONTRIBUTING.md", "bench/README.md", "docs/speed.md", "src/README.md", "docs/headers.md",
                 "docs/decisions/README.md"]
        for page in pages:
            for link in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text()):
                self.assertTrue((ROOT / page).parent.joinpath(link).exists(), f"{page}: {link}")

    def test_every_decision_is_listed_in_its_order(self):
        folder = ROOT / "docs/decisions"
        listed = re.findall(r"^\| \[(\d{4})\]\((.*?)\) \|", (folder / "README.md").read_text(), re.MULTILINE)
        pages = sorted(page.name for page in folder.glob("[0-9]*.md"))
        self.assertEqual(listed, [(name[:4], name) for name in pages])
        self.assertEqual(len({name[:4] for name in pages}), len(pages), "two pages with one number")

    def test_every_folder_of_tests_is_named(self):
        rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "tests/README.md").read_text(), re.MULTILINE)
        named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        folders = [path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name[0] not in "._"]
        self.assertEqual(sorted(named), sorted(folders))

    def test_make_targets_exist(self):
        targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        for page in ("README.md", "CONTRIBUTING.md", "bench/README.md", "docs/speed.md"):
            named = set(re.findall(r"(?:^|`) *make ([a-z0-9-]+)", (ROOT / page).read_text(), re.MULTILINE))
            self.assertLessEqual(named, targets, page)

    def test_figures_are_those_that_were_measured(self):
        for file in ("docs/speed.json", "docs/keras_speed.json"):
            kept, parts = markdown.pages(json.loads((ROOT / file).read_text()))
            self.assertEqual(kept, file)
            for page, part in parts.items():
                text = (ROOT / page).read_text()
                self.assertEqual(text, markdown.replaced(text, part), f"{page}: run bench/run.py --markdown")


if __name__ == "__main__":
    unittest.main()
