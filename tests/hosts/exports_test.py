"""What libplimsoll.so and its oneDNN show to, and want from, the process they are in. Run: exports_test.py <library> [oneDNN]"""
import pathlib
import re
import subprocess
import sys
import unittest

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"


def names(file, *options):
    lines = subprocess.run(["nm", "-D", *options, file], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def visible_names(file):
    lines = subprocess.run(["readelf", "-W", "--dyn-syms", file], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in lines.splitlines() if " DEFAULT " in line and " UND " not in line]
    return {row[7].split("@")[0] for row in rows if len(row) > 7}


def demangled(symbols):
    text = subprocess.run(["c++filt"], input="\n".join(symbols), check=True, capture_output=True, text=True).stdout
    return text.splitlines()


class Exports(unittest.TestCase):
    library, onednn = "", None

    def test_only_public_names_are_shown(self):
        public = set(re.findall(r"\w+", "".join(h.read_text() for h in INCLUDE.rglob("*.h"))))
        shown = names(self.library, "--defined-only")
        self.assertGreater(len(shown), 100)
        ours = [s for s in shown if not s.startswith(("plimsoll_GOMP_", "plimsoll_omp_"))]
        for name in demangled(ours):
            found = re.search(r"plimsoll::(?:\w+::)*?(\w+)", name)
            self.assertTrue(found, f"{name} is not in the namespace plimsoll")
            for part in re.match(r"(?:[^(<]*?)plimsoll::([\w:~]+)", name).group(1).split("::"):
                self.assertIn(part.lstrip("~").removesuffix("operator"), public | {""}, f"{name} is in no public header")

    def test_public_headers_show_what_they_declare(self):
        for header in INCLUDE.rglob("*.h"):
            text = header.read_text()
            if "\nnamespace plimsoll {" in text:
                self.assertRegex(text, r"#pragma GCC visibility push\(default\)\nnamespace plimsoll \{", header)
                self.assertIn("}  // namespace plimsoll\n#pragma GCC visibility pop", text, header)

    def test_nobody_elses_openmp_is_asked_for_or_replaced(self):
        for file in filter(None, (self.library, self.onednn)):
            for name in names(file):
                self.assertFalse(name.startswith(("GOMP_", "omp_", "__kmpc_")), f"{name} in {file}")
            needed = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
            self.assertNotIn("libgomp", needed)
            self.assertNotIn("[libdnnl", needed)

    def test_the_library_stays_in_memory_as_its_threads_do(self):
        flags = subprocess.run(["readelf", "-d", self.library], check=True, capture_output=True, text=True).stdout
        self.assertRegex(flags, r"FLAGS_1.*NODELETE")

    def test_our_onednn_shows_nothing_but_its_renamed_interface(self):
        if self.onednn is None:
            self.skipTest("built without oneDNN")
        shown = visible_names(self.onednn)
        self.assertIn("plimsoll_dnnl_primitive_create", shown)
        for name in shown:
            self.assertTrue(name.startswith("plimsoll_dnnl_"), name)


if __name__ == "__main__":
    Exports.library = sys.argv.pop(1)
    Exports.onednn = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] else None
    unittest.main(argv=sys.argv[:1])
