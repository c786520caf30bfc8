"""The harness of the benchmark: who is counted, who is named as missing, who goes first. Run by ctest, or by hand."""

import json
import pathlib
import sys
import tempfile
import textwrap
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import harness
import markdown
import rows
import run
from peer_models import MODELS, Row


def contender(name, values, error=None):
    return types.SimpleNamespace(name=name, values=values, error=error, cpu=0, wall=0, disturbed=0)


def script(text):
    """A contender's command line: a Python script that speaks the protocol."""
    return [sys.executable, "-c", textwrap.dedent(text)]


def answers(value, threads=None):
    threads = f', "threads": {threads}' if threads else ""
    return script(f"""
        import sys
        print('{{"ready": true{threads}}}', flush=True)
        for _ in sys.stdin: print('{{"value": {value}}}', flush=True)
    """)


FAILS = script("import sys; sys.exit('no such model')")
DIES_IN_A_ROUND = script("""
    import sys
    print('{"ready": true}', flush=True)
    sys.stdin.readline()
    sys.exit('out of memory')
""")


class Summary(unittest.TestCase):
    def test_the_ratio_is_against_the_best_peer(self):
        result = harness.summary("row", "ms", [contender("ours", [2, 1, 3]), contender("a", [8, 8, 8]), contender("b", [4, 6, 5])])
        self.assertEqual((result["best"], result["ratio"]), ("b", 2.5))
        self.assertEqual(result["ours"], {"median": 2, "min": 1, "max": 3, "rounds": 3})

    def test_a_peer_that_failed_is_named_and_not_counted_even_if_it_was_fast(self):
        result = harness.summary("row", "ms", [contender("ours", [2]), contender("a", [8]), contender("b", [1], "ended: oops")],
                                 {"c": "not installed"})
        self.assertEqual((result["best"], result["ratio"]), ("a", 4))
        self.assertEqual(result["left_out"], {"b": "ended: oops", "c": "not installed"})
        self.assertNotIn("b", result["peers"])

    def test_without_any_peer_there_is_no_ratio(self):
        result = harness.summary("row", "ms", [contender("ours", [2]), contender("a", [], "ended")])
        self.assertIsNone(result["ratio"])
        self.assertEqual(result["left_out"], {"a": "ended"})

    def test_without_ours_there_is_no_row(self):
        self.assertIsNone(harness.summary("row", "ms", [contender("ours", [], "ended"), contender("a", [8])]))


class Turns(unittest.TestCase):
    def test_everyone_gets_every_round_and_failures_say_why(self):
        commands = {"ours": answers(1), "good": answers(3), "fails": FAILS, "dies": DIES_IN_A_ROUND}
        everyone = {c.name: c for c in harness.take_turns(commands, 1, 3, "seed")}
        for c in everyone.values():
            c.close()
        self.assertEqual(everyone["ours"].values, [1, 1, 1])
        self.assertEqual(everyone["good"].values, [3, 3, 3])
        self.assertIn("no such model", everyone["fails"].error)
        self.assertIn("out of memory", everyone["dies"].error)

    def test_a_hopeless_peer_has_one_figure_and_no_more_rounds(self):
        everyone = {c.name: c for c in harness.take_turns({"ours": answers(1), "fast": answers(3), "slow": answers(9)}, 1, 2, "s")}
        for c in everyone.values():
            c.close()
        self.assertEqual((everyone["fast"].values, everyone["slow"].values), ([3, 3], [9]))
        self.assertEqual(harness.summary("r", "ms", list(everyone.values()))["peers"]["slow"]["rounds"], 1)

    def test_ours_is_never_closed_however_slow(self):
        everyone = {c.name: c for c in harness.take_turns({"ours": answers(100), "a": answers(1), "b": answers(1.5)}, 1, 2, "s", keep=1)}
        for c in everyone.values():
            c.close()
        self.assertEqual((everyone["ours"].values, everyone["a"].values, everyone["b"].values), ([100, 100], [1, 1], [1.5]))

    def test_a_peer_with_more_threads_than_asked_for_is_left_out(self):
        everyone = harness.take_turns({"ours": answers(1), "greedy": answers(1, threads=4)}, 1, 1, "s")
        for c in everyone:
            c.close()
        self.assertIn("uses 4 threads where 1 were asked for", everyone[1].error)

    def test_contenders_run_on_as_many_processors_as_threads(self):
        command = script("""
            import json, os, sys
            print('{"ready": true}', flush=True)
            for _ in sys.stdin: print(json.dumps({"value": len(os.sched_getaffinity(0))}), flush=True)
        """)
        (ours,) = harness.take_turns({"ours": command}, 1, 1, "s")
        ours.close()
        self.assertEqual(ours.values, [1])

    def test_the_order_is_drawn_for_each_round_and_repeats_with_the_seed(self):
        names = list("abcdef")
        orders = harness.orders(names, 50, "1/row")
        self.assertEqual(orders, harness.orders(names, 50, "1/row"))
        self.assertNotEqual(orders, harness.orders(names, 50, "2/row"))
        self.assertTrue(all(sorted(order) == names for order in orders))
        self.assertEqual({order[0] for order in orders}, set(names))


class Idle(unittest.TestCase):
    def wait(self, readings, **options):
        readings, naps = iter(readings), []
        return harness.wait_idle([], read=lambda _: next(readings), sleep=naps.append, window=0.03, **options), len(naps)

    def test_it_waits_until_nobody_uses_the_processor(self):
        self.assertEqual(self.wait([1.00, 1.03, 1.06, 1.07, 1.07]), (True, 4))

    def test_at_rest_it_waits_one_window(self):
        self.assertEqual(self.wait([5.0, 5.0001]), (True, 1))

    def test_it_says_so_when_someone_never_rests(self):
        self.assertEqual(self.wait([i * 0.03 for i in range(11)], windows=10), (False, 10))

    def test_it_sees_what_the_threads_of_a_process_use(self):
        spinning = harness.Contender("spins", script("""
            import threading
            def spin():
                while True: pass
            threading.Thread(target=spin).start()
        """), 1)
        try:
            while harness.cpu_seconds([spinning]) < 0.2:
                self.assertIsNone(spinning.process.poll())
        finally:
            spinning.close()


class Peers(unittest.TestCase):
    EVERYTHING = dict.fromkeys(["torch", "jax", "tensorflow", "keras", "numpy"], "1")

    def test_like_is_put_beside_like(self):
        self.assertEqual(rows.peers_of("mlp10_b32", self.EVERYTHING)[0], ["torch", "torch-compile", "jax", "tensorflow"])
        self.assertEqual(set(rows.peers_of("fit_mlp10_b32", self.EVERYTHING)[0]),
                         {"keras-tensorflow", "keras-jax", "keras-torch", "torch", "torch-compile"})
        self.assertIn("torch-compile", rows.peers_of("layernorm_4096x768", self.EVERYTHING)[0])

    def test_on_a_gpu_peers_are_torch_as_written_and_at_its_strongest_and_jax(self):
        peers, left_out = rows.peers_of("cnn64bn_b32", {"torch": "2"}, device="cuda")
        self.assertEqual(peers, ["torch", "torch-graph"])
        self.assertEqual(list(left_out), ["jax"])

    def test_keras_scripts_are_put_beside_keras_and_torch(self):
        everyone = {"keras-tensorflow", "keras-jax", "keras-torch", "torch", "torch-compile"}
        self.assertEqual(set(rows.peers_of("keras_lstm_b32", self.EVERYTHING)[0]), everyone)
        self.assertEqual(set(rows.peers_of("keras_eager_add8", self.EVERYTHING)[0]), {"keras-tensorflow", "keras-jax", "keras-torch"})
        options = types.SimpleNamespace(device="cpu", threads=2, fast=False, smoke=False, versions=self.EVERYTHING, python="python", program="bench")
        lines, _ = run.commands("keras_resident_cnn100_b512", options)
        ours, jax = (list(map(str, lines[name])) for name in ("ours", "keras-jax"))
        self.assertEqual([a.replace("keras-plimsoll", "keras-jax") for a in ours[2:]], jax)
        self.assertIn("keras_cnn100_b512", jax)

    def test_half_precision_has_both_forms_of_torch(self):
        self.assertEqual(rows.peers_of("lstm_b32_bf16", self.EVERYTHING)[0],
                         ["torch", "torch-bf16", "torch-compile", "torch-compile-bf16", "jax", "tensorflow"])
        self.assertEqual(rows.peers_of("matmul_1024_bf16", self.EVERYTHING)[0], ["torch", "torch-compile", "jax"])

    def test_a_peer_that_is_not_installed_is_named(self):
        peers, left_out = rows.peers_of("mnist_b128", {"torch": "2", "jax": "0"})
        self.assertEqual(peers, ["torch", "torch-compile", "jax"])
        self.assertEqual(left_out, {"tensorflow": "tensorflow and keras not installed"})

    def test_fast_takes_the_two_best_as_measured(self):
        known = {"peers": {"torch": {"median": 9}, "torch-compile": {"median": 3}, "jax": {"median": 5}, "tensorflow": {"median": 7}}}
        peers, left_out = rows.peers_of("mnist_b128", self.EVERYTHING, known)
        self.assertEqual(peers, ["torch-compile", "jax"])
        self.assertEqual(set(left_out), {"torch", "tensorflow"})

    def test_half_precision_is_measured_where_the_processor_has_it(self):
        names = ["mnist_b128", "mnist_b128_bf16", "mnist_b128_bf16_predict"]
        self.assertEqual(rows.usual(names, "a machine, AVX-512 with bf16"), names[:2])
        self.assertEqual(rows.usual(names, "a machine, AVX2"), names[:1])

    def test_names_say_what_is_timed(self):
        row = Row("fit_resnet50_b8")
        self.assertEqual((row.model, row.fit, row.predict, row.bf16, row.resnet_v1), ("resnet50_b8", True, False, False, True))
        row = Row("lstm_b32_bf16_predict")
        self.assertEqual((row.model, row.fit, row.predict, row.bf16), ("lstm_b32", False, True, True))
        row = Row("keras_mlp100_b32_predict")
        self.assertEqual((row.model, row.fit, row.predict, row.keras), ("mlp100_b32", True, True, True))
        self.assertTrue(Row("keras_import").start)
        self.assertIsNone(Row("matmul_1024").model)
        self.assertTrue(all(Row(model).model == model for model in MODELS))


RESULT = {"row": "lstm_b32", "unit": "ms", "ours": {"median": 12.345, "min": 12, "max": 13, "rounds": 7}, "best": "torch", "ratio": 2.0,
          "peers": {"torch": {"median": 24.69, "min": 24, "max": 26, "rounds": 7}, "jax": {"median": 99, "min": 99, "max": 99, "rounds": 1}},
          "left_out": {"tensorflow": "no answer in 300 s"}, "others": 0.01}
DATA = {"machine": "a machine", "threads": 2, "versions": {"torch": "2.15.0"}, "date": "2026-01-01", "rows": [RESULT]}


class Files(unittest.TestCase):
    def test_the_table_has_median_spread_ratio_and_who_is_missing(self):
        line = markdown.table([RESULT]).splitlines()[-1]
        self.assertEqual(line, "| `lstm_b32` | 12.3 ms (12–13) | torch 24.7 ms (24–26) | 2 | tensorflow: no answer in 300 s |")
        self.assertIn("| jax 99 |", markdown.table([RESULT], everything=True))

    def test_a_machine_that_was_not_quiet_is_told(self):
        self.assertIn("nothing else to do", markdown.heading(DATA))
        noisy = DATA | {"rows": [RESULT | {"others": 0.3}]}
        self.assertIn("other processes on up to 30%", markdown.heading(noisy))

    def test_rows_under_load_say_so(self):
        self.assertIn("`lstm_b32` beside 2 endless loops", markdown.table([RESULT | {"busy": 2}]))

    def test_a_page_keeps_what_stands_around_its_table(self):
        page = "before\n" + markdown.BEGIN + "old\n" + markdown.END + "after\n"
        self.assertEqual(markdown.replaced(page, "new\n"), page.replace("old", "new"))

    def test_rows_are_replaced_and_other_machines_begin_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.json"
            head = {key: DATA[key] for key in ("machine", "threads", "versions", "date")}
            first = run.Results(path, head)
            first.add(RESULT)
            first.add(RESULT | {"busy": 2})
            second = run.Results(path, head)
            second.add(RESULT | {"ratio": 3.0})
            self.assertEqual([r["ratio"] for r in json.loads(path.read_text())["rows"]], [3.0, 2.0])
            self.assertEqual(run.Results(path, head | {"threads": 16}).known(), {})


if __name__ == "__main__":
    unittest.main()
