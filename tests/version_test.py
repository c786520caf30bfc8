"""One version everywhere: CMake's, which the program, the Debian package, the wheel and find_package are made from, is the one that
CHANGELOG.md has released last and that the docs name. Run by ctest, or by hand."""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build"))
VERSION = re.search(r"^project\(plimsoll VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M).group(1)


def setting(file, name):
    return re.search(rf'^set\({name} "([^"]*)"\)', (BUILD / file).read_text(), re.M).group(1)


class Version(unittest.TestCase):
    def test_changelog_has_it_with_a_date_below_what_is_not_released(self):
        heads = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
        self.assertEqual(heads[0], "Unreleased")
        self.assertRegex(heads[1], rf"^{re.escape(VERSION)} \(\d{{4}}-\d{{2}}-\d{{2}}\)$")

    def test_program_says_it(self):
        said = subprocess.run([BUILD / "bin/plimsoll", "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said.split()[-1], VERSION)

    def test_packages_are_made_with_it(self):
        self.assertEqual(setting("CPackConfig.cmake", "CPACK_PACKAGE_VERSION"), VERSION)
        self.assertEqual(setting("PlimsollConfigVersion.cmake", "PACKAGE_VERSION"), VERSION)

    def test_the_wheel_takes_it_from_cmake(self):
        text = (ROOT / "pyproject.toml").read_text()
        self.assertIn('dynamic = ["version"]', text)
        section = text.split("[tool.scikit-build.metadata.version]")[1]
        pattern = re.search(r"regex = (['\"]+)(.*?)\1", section).group(2)
        found = re.search(pattern, (ROOT / re.search(r'input = "(.*?)"', section).group(1)).read_text(), re.M)
        self.assertEqual(found.group("value"), VERSION)

    def test_docs_name_no_other(self):
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
            for named in re.findall(r"plimsoll[-_](\d+\.\d+\.\d+)", page.read_text()):
                self.assertEqual(named, VERSION, page.name)


if __name__ == "__main__":
    unittest.main()
