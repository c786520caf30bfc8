"""`plimsoll devices` says why a GPU that is there cannot be used, and who has its memory: the plug-in for CUDA with an emulator of
NVIDIA's libraries that is told what it stands for. Run by ctest: refusals_test.py PROGRAM."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()


def devices(**settings):
    """The lines about CUDA."""
    text = subprocess.run([PROGRAM, "devices"], env=os.environ | settings, capture_output=True, text=True, check=True).stdout
    return next(line for line in text.splitlines() if line.startswith("cuda"))


class Refusals(unittest.TestCase):
    def setUp(self):
        # Any of our own processes will do; what is not in the first PID namespace is only named if it has a GPU open.
        self.child = subprocess.Popen(["sleep", "600"])
        self.addCleanup(self.child.wait)
        self.addCleanup(self.child.kill)
        self.first = os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"

    def named(self):
        return rf"\w+'s sleep \(process {self.child.pid}\)" if self.first else f"process {self.child.pid}"

    def test_a_device_that_can_be_used_says_what_it_is(self):
        self.assertRegex(devices(), r"^cuda:0: emulated GPU, 8 multiprocessors of capability 9.0, CUDA 13.0, NVRTC 13.0$")

    def test_who_has_the_memory_of_one_that_is_shared(self):
        self.assertRegex(devices(EMULATED_PROCESSES=f"{self.child.pid}:3221225472"), self.named() + r" has 3\.0 GiB$")

    def test_all_memory_taken_says_by_whom_largest_first(self):
        said = devices(EMULATED_FULL="1", EMULATED_PROCESSES=f"999999999:1073741824,{self.child.pid}:85899345920")
        self.assertRegex(said, "^cuda:0: cannot be used: .*all memory of the GPU is taken: " + self.named()
                         + r" has 80\.0 GiB, process 999999999 has 1\.0 GiB$")

    def test_all_memory_taken_by_nobody_that_can_be_seen(self):
        self.assertIn("by processes that cannot be seen", devices(EMULATED_FULL="1"))

    def test_many_are_not_all_named(self):
        said = devices(EMULATED_PROCESSES=",".join(f"99999999{i}:{2 ** 30 * (i + 1)}" for i in range(5)))
        self.assertTrue(said.endswith("process 999999994 has 5.0 GiB, process 999999993 has 4.0 GiB, process 999999992 has 3.0 GiB, and 2 more"), said)

    def test_a_driver_that_is_too_old_for_the_libraries(self):
        said = devices(EMULATED_DRIVER="12040")
        if re.match("cuda:0: (?!cannot)", said):
            self.skipTest("this machine: has the libraries of CUDA 12")
        self.assertRegex(said, r"driver here knows CUDA 12\.4, and libnvrtc\.so here is of CUDA 13: install a newer driver, or the library of CUDA 12$")

    def test_a_driver_that_is_too_old_for_any(self):
        self.assertRegex(devices(EMULATED_DRIVER="11040"), r"driver here knows CUDA 11\.4: install one that knows CUDA 12$")

    def test_a_gpu_that_is_too_old_or_too_new_for_the_compiler(self):
        self.assertRegex(devices(EMULATED_CAPABILITY="70"), r"NVRTC 13\.0 has no code for emulated GPU of capability 7\.0: install CUDA 12")
        self.assertRegex(devices(EMULATED_CAPABILITY="150"), r"of capability 15\.0: install a newer one$")

    def test_a_library_that_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            emulator = os.path.join(os.environ["PLIMSOLL_CUDA_LIBRARIES"], "libcuda.so.1")
            os.symlink(emulator, os.path.join(folder, "libcuda.so.1"))
            said = devices(PLIMSOLL_CUDA_LIBRARIES=folder, VIRTUAL_ENV="")
            if not re.match("cuda:0: (?!cannot)", said):  # else the machine has it
                self.assertRegex(said, r"there is no libnvrtc\.so\.13 on this machine: install CUDA's toolkit, or pip install nvidia-cuda-nvrtc$")


if __name__ == "__main__":
    unittest.main()
