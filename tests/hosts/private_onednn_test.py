"""cmake/private_onednn.py on libraries made for the purpose. Run: private_onednn_test.py <C compiler>"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "private_onednn.py"
COMPILER = "cc"

LIBRARY = """
#include <math.h>
#include <omp.h>
int internal_counter;
void internal_step_with_a_name_as_long_as_those_of_cpp(int i) { __atomic_fetch_add(&internal_counter, i + 1, __ATOMIC_RELAXED); }
int dnnl_run(int n) {
  internal_counter = (int)(cos((double)n) * 0.5);
#pragma omp parallel num_threads(n)
  internal_step_with_a_name_as_long_as_those_of_cpp(omp_get_thread_num());
  return internal_counter * 100 + omp_get_max_threads();
}
"""
SHIM = """
static int index_now;
int plimsoll_omp_get_thread_num(void) { return index_now; }
int plimsoll_omp_get_max_threads(void) { return 7; }
void plimsoll_GOMP_parallel(void (*region)(void*), void* data, unsigned threads, unsigned flags) {
  for (index_now = 0; index_now < (int)threads; ++index_now) region(data);
  index_now = 0;
}
"""


class PrivateOnednn(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def build(self, name, code, *options):
        pathlib.Path(self.path(name + ".c")).write_text(code)
        subprocess.run([COMPILER, "-shared", "-fPIC", self.path(name + ".c"), "-o", self.path(name),
                        "-Wl,-soname,libdnnl.so.3", *options], check=True)
        return self.path(name)

    def make_private(self, library):
        return subprocess.run([sys.executable, SCRIPT, library, self.path("copy.so"), self.path("names.h")],
                              capture_output=True, text=True)

    def test_the_copy_runs_on_the_functions_with_the_prefix(self):
        # In both orders of libgomp among the libraries it needs.
        for options in (("-fopenmp", "-lm"), ("-lm", "-fopenmp"), ("-fopenmp", "-lm", "-Wl,--hash-style=both")):
            with self.subTest(options):
                done = self.make_private(self.build("original.so", LIBRARY, *options))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("#define dnnl_run plimsoll_dnnl_run", pathlib.Path(self.path("names.h")).read_text())
                read = subprocess.run(["readelf", "-dW", self.path("copy.so")], capture_output=True, text=True).stdout
                self.assertNotIn("libgomp", read)
                self.assertIn("libplimsoll_onednn.so.3", read)
                shim = self.build("shim.so", SHIM)
                code = ("import ctypes; ctypes.CDLL(%r, ctypes.RTLD_GLOBAL); l = ctypes.CDLL(%r);"
                        "print(l.plimsoll_dnnl_run(4), hasattr(l, 'dnnl_run'), hasattr(l, 'internal_counter'))")
                ran = subprocess.run([sys.executable, "-c", code % (shim, self.path("copy.so"))], capture_output=True, text=True)
                self.assertEqual(ran.stdout.strip(), "1007 False False", ran.stderr)

    def test_what_cannot_be_changed_is_refused_with_a_reason(self):
        critical = LIBRARY.replace("#pragma omp parallel num_threads(n)", "#pragma omp critical")
        done = self.make_private(self.build("critical.so", critical, "-fopenmp", "-lm"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("GOMP_critical", done.stdout)
        pathlib.Path(self.path("text.so")).write_text("no library")
        done = self.make_private(self.path("text.so"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("ELF", done.stdout)
        self.assertFalse(os.path.exists(self.path("copy.so")))


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main(argv=sys.argv[:1])
