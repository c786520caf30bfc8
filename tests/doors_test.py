"""The doors between rooms open one way: fails when a file includes what its room may not, and when a link leads out of the house.

What a room below src/ may include stands in its CMakeLists.txt (plimsoll_room(... MAY_INCLUDE ...)); every room may
include itself and the public headers. Tests may look anywhere. Run by ctest, or by hand: python3 tests/doors_test.py
"""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLIC = "plimsoll"  # include/plimsoll/

# Folders outside src/: a room, or the beginning of file names in one.
OUTSIDE = {
    "include/plimsoll": [],
    "guard": ["common", "memory/readings"],  # must live on when the engine does not
    "cli": ["guard", "common/files", "common/json", "common/names"],
    "examples": [],
    "python/native": ["graph", "ops/complex_parts", "memory/arena", "memory/buffer", "memory/charge", "memory/planning",
                      "memory/spill", "device/cpu/thread_pool", "train/optimizer_state",
                      "train/planned_state"],
}

# Folders that use nlohmann's json as it is, and not the ordered_json of common/json.h.
PLAIN_JSON = {"src/common", "src/doctor", "guard"}

ROOM_ROW = re.compile(r"plimsoll_room\(\s*(\w+)([^)]*)\)")
KEYWORDS = {"RECURSE", "LIBRARIES", "TEST_LIBRARIES", "MAY_INCLUDE"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".h", ".hpp", ".cpp", ".cu", ".c"}


def room_doors(root):
    """{room: what it may include}, from the CMakeLists.txt of each folder of src/."""
    doors = {}
    for listing in sorted((root / "src").glob("*/CMakeLists.txt")):
        for name, rest in ROOM_ROW.findall(listing.read_text()):
            allowed, keyword = [], None
            for word in rest.split():
                if word in KEYWORDS:
                    keyword = word
                elif keyword == "MAY_INCLUDE":
                    allowed.append(word)
            doors[name] = allowed
    return doors


def is_allowed(include, allowed):
    return any(include.startswith(door + "/") or ("/" in door and include.startswith(door)) for door in allowed)


def violations(root):
    """One line for each include that goes through a closed door."""
    doors = room_doors(root)
    folders = {f"src/{room}": [room, PUBLIC, *allowed] for room, allowed in doors.items()}
    folders |= {folder: [pathlib.PurePath(folder).name, PUBLIC, *allowed] for folder, allowed in OUTSIDE.items()}
    rooms = {PUBLIC, *doors, *(pathlib.PurePath(folder).name for folder in OUTSIDE)}
    found = []
    for folder, allowed in folders.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES or path.stem.endswith("_test"):
                continue
            for include in INCLUDE.findall(path.read_text()):
                if include.split("/")[0] in rooms and "/" in include and not is_allowed(include, allowed):
                    found.append(f"{path.relative_to(root)} includes {include}, which {folder} may not")
                if include == "nlohmann/json.hpp" and folder not in PLAIN_JSON:
                    found.append(f"{path.relative_to(root)} includes {include} and not common/json.h, which says why")
    return found


def links_out(root):
    """Links that git keeps and that lead out of its tree: a clone would have what lies on the machine they were made on, or nothing."""
    kept = subprocess.run(["git", "-C", root, "ls-files", "-s", "-z"], capture_output=True, text=True, check=True).stdout
    links = [line.split("\t")[1] for line in kept.split("\0") if line.startswith("120000")]
    tree = root.resolve()
    return [link for link in links if not (root / link).resolve().is_relative_to(tree)]


def cycle(doors):
    """A room that can reach itself through doors, or None."""
    def reach(room, seen):
        for door in doors.get(room, []):
            if door not in seen:
                seen.add(door)
                reach(door, seen)
        return seen

    return next((room for room in doors if room in reach(room, set())), None)


class Doors(unittest.TestCase):
    def test_no_file_includes_what_its_room_may_not(self):
        self.assertEqual(violations(ROOT), [])

    def test_doors_open_one_way(self):
        self.assertIsNone(cycle(room_doors(ROOT)))

    def test_every_room_is_known(self):
        folders = {path.parent.name for path in (ROOT / "src").glob("*/CMakeLists.txt")}
        self.assertEqual(set(room_doors(ROOT)), folders)
        self.assertIn("common", folders)

    @unittest.skipUnless((ROOT / ".git").exists() and shutil.which("git"), "this machine: the sources are no clone")
    def test_no_link_leads_out(self):
        self.assertEqual(links_out(ROOT), [])


class DoorsNoticeViolations(unittest.TestCase):
    """A made-up tree, so that a check that sees nothing does not pass for a clean house."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/common/CMakeLists.txt", "plimsoll_room(common LIBRARIES fmt::fmt)\n")
        self.write("src/memory/CMakeLists.txt", "plimsoll_room(memory RECURSE MAY_INCLUDE common\n  LIBRARIES graph)\n")
        self.write("src/graph/CMakeLists.txt", "plimsoll_room(graph MAY_INCLUDE common)\n")
        self.write("src/memory/good.cpp", '#include <map>\n#include "common/x.h"\n#include "plimsoll/y.h"\n')

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def test_a_clean_tree_passes(self):
        self.assertEqual(violations(self.root), [])

    def test_json_without_our_destructor_is_found(self):
        self.write("src/memory/bad.cpp", "#include <nlohmann/json.hpp>\n")
        self.assertEqual(len(violations(self.root)), 1)

    def test_a_room_that_includes_another_is_found(self):
        self.write("src/common/bad.cpp", '#include "memory/account.h"\n')
        self.assertEqual(len(violations(self.root)), 1)
        self.assertIn("src/common/bad.cpp includes memory/account.h", violations(self.root)[0])

    def test_libraries_open_no_door(self):
        self.write("src/memory/deep/bad.h", '  #  include "graph/op.h"\n')
        self.assertEqual(len(violations(self.root)), 1)

    def test_angle_brackets_do_not_hide_it(self):
        self.write("src/graph/bad.cpp", "#include <memory/account.h>\n")
        self.assertEqual(len(violations(self.root)), 1)

    def test_public_headers_include_themselves_only(self):
        self.write("include/plimsoll/bad.h", '#include "plimsoll/good.h"\n#include "common/x.h"\n')
        self.assertEqual(len(violations(self.root)), 1)

    def test_the_guard_sees_only_the_readings_of_memory(self):
        self.write("guard/good.cpp", '#include "guard/a.h"\n#include "memory/readings.h"\n#include "common/x.h"\n')
        self.assertEqual(violations(self.root), [])
        self.write("guard/bad.cpp", '#include "memory/account.h"\n')
        self.assertEqual(len(violations(self.root)), 1)

    def test_tests_may_look_inside(self):
        self.write("src/common/a_test.cpp", '#include "graph/op.h"\n')
        self.assertEqual(violations(self.root), [])

    @unittest.skipUnless(shutil.which("git"), "this machine: no git")
    def test_a_link_that_leads_out_is_found(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        (self.root / "inside").symlink_to("src")
        (self.root / "out").symlink_to(pathlib.Path(tempfile.gettempdir()).resolve())
        subprocess.run(["git", "-C", self.root, "add", "."], check=True)
        self.assertEqual(links_out(self.root), ["out"])

    def test_a_circle_of_doors_is_found(self):
        self.assertIsNone(cycle({"a": ["b"], "b": []}))
        self.assertIsNotNone(cycle({"a": ["b"], "b": ["c"], "c": ["a"]}))


if __name__ == "__main__":
    unittest.main()
