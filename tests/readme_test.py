"""What the README shows is what is compiled and what exists. Run by ctest, or by hand."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


class Readme(unittest.TestCase):
    def test_the_cpp_example_is_the_one_that_is_compiled(self):
        shown = re.findall(r"```cpp\n(.*?)```", README, re.DOTALL)
        self.assertEqual(shown, [(ROOT / "examples/cnn.cpp").read_text()])

    def test_it_stays_short(self):
        self.assertLess(len(README.splitlines()), 150)

    def test_links_lead_somewhere(self):
        for page in ("README.md", "CONTRIBUTING.md", "src/README.md", "docs/headers.md", "docs/decisions/README.md"):
            for link in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text()):
                self.assertTrue((ROOT / page).parent.joinpath(link).exists(), f"{page}: {link}")

    def test_make_targets_exist(self):
        targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        for page in ("README.md", "CONTRIBUTING.md"):
            named = set(re.findall(r"^make ([a-z0-9-]+)", (ROOT / page).read_text(), re.MULTILINE))
            self.assertLessEqual(named, targets, page)


if __name__ == "__main__":
    unittest.main()
