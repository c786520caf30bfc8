"""Jupyter's own conformance tests, with and without the guard: the same results."""
import json
import pathlib
import subprocess
import sys

SUITE = '''
import sys, unittest
import jupyter_kernel_test as jkt
class Python(jkt.KernelTests):
    kernel_name = sys.argv.pop(1)
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('oops', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}}]
    complete_code_samples = ["1", "print('hello')"]
    incomplete_code_samples = ["for i in (1,", "def f(x):"]
    invalid_code_samples = ["import = 7q"]
    code_generate_error = "raise ValueError"
    code_execute_result = [{"code": "1+2", "result": "3"}]
    code_display_data = [{"code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))", "mime": "text/html"}]
    code_page_something = "zip?"
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "search")

    @classmethod
    def setUpClass(cls):
        # The suite's own patience of a tenth of a second measures the machine, not the kernel.
        cls.km, cls.kc = jkt.start_new_kernel(kernel_name=cls.kernel_name, startup_timeout=120)
        for channel in (cls.kc.shell_channel, cls.kc.iopub_channel):
            channel.get_msg = lambda timeout=None, get=channel.get_msg: get(timeout=60)

    def flush_channels(self):
        """Takes all there is: what comes before the answer to a question asked now, and its idle."""
        asked = self.kc.kernel_info()
        while self.kc.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != asked:
            pass
        while True:
            message = self.kc.get_iopub_msg(timeout=60)
            mine = message["parent_header"].get("msg_id") == asked
            if mine and message["content"].get("execution_state") == "idle":
                return


class Names(unittest.TextTestResult):
    outcomes = {}
    def stopTest(self, test):
        super().stopTest(test)
        bad = {"failed": self.failures, "error": self.errors, "skipped": self.skipped}
        outcome = [word for word, tests in bad.items() if any(getattr(t, "test_case", t) is test for t, _ in tests)]
        self.outcomes[test.id()] = outcome[0] if outcome else "passed"
unittest.main(exit=False, argv=["suite"], verbosity=0, testRunner=unittest.TextTestRunner(resultclass=Names))
import json
print("RESULT", json.dumps(Names.outcomes))
'''
# What the suite does for a Python kernel; a kernel that passes nothing at all would equal another such one.
LEAST_PASSED = 11


def run_suite(kernel, folder):
    """The outcome of each test by its name, and what the suite wrote."""
    path = folder / "suite.py"
    path.write_text(SUITE)
    done = subprocess.run([sys.executable, str(path), kernel], capture_output=True, text=True, timeout=600)
    result = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    return json.loads(result.split(" ", 1)[1]), done.stderr


def test_the_conformance_suite_gives_the_same_results(folders, tmp_path):
    spec = pathlib.Path(folders) / "data" / "kernels" / "plain" / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "plain", "language": "python"}))
    guarded, errors = run_suite("guarded", tmp_path)
    assert guarded == run_suite("plain", tmp_path)[0], errors
    assert sum(outcome == "passed" for outcome in guarded.values()) >= LEAST_PASSED, guarded
