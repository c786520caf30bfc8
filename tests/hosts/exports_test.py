"""What libplimsoll.so and its oneDNN show to, and want from, the process they are in. Run: exports_test.py <library> [oneDNN]"""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"


def text_of(folder):
    return "".join(header.read_text() for header in folder.rglob("*.h"))


def namespaces(text):
    return set(re.findall(r"\bnamespace (?:plimsoll::)?(\w+)", text)) - {"plimsoll"}


def names(file, *options):
    lines = subprocess.run(["nm", "-D", *options, file], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def visible_names(file):
    lines = subprocess.run(["readelf", "-W", "--dyn-syms", file], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in lines.splitlines() if " DEFAULT " in line and " UND " not in line]
    return {row[7].split("@")[0] for row in rows if len(row) > 7}


def parts_of(symbol):
    """The names that a mangled one is nested in, and its own: `_ZNK8plimsoll6Tensor4dataEv` gives plimsoll, Tensor, data."""
    rest = re.match(r"_Z(?:GVZ|Z|T[ISV]|T[hv][^N]*)?N[KORr]*(.*)", symbol)
    parts, text = [], rest.group(1) if rest else ""
    while found := re.match(r"(\d+)", text):
        start, length = found.end(), int(found.group(1))
        parts.append(text[start : start + length])
        text = text[start + length :]
    return parts


class Exports(unittest.TestCase):
    library, onednn = "", None

    def test_only_public_names_are_shown(self):
        headers = text_of(INCLUDE)
        public = set(re.findall(r"\w+", headers)) - (namespaces(text_of(ROOT / "src")) - namespaces(headers))
        shown = names(self.library, "--defined-only")
        self.assertGreater(len(shown), 100)
        ours = [s for s in shown if not s.startswith(("plimsoll_GOMP_", "plimsoll_omp_"))]
        for name in ours:
            parts = parts_of(name)
            self.assertEqual(parts[:1], ["plimsoll"], name)
            # What is nested in a public class, its body for one, shows with it.
            self.assertIn((parts[1:2] or [""])[0], public | {""}, f"{name} is in no public header")

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
