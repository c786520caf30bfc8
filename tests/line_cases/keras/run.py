"""Keras models under a line through KERAS_BACKEND=plimsoll, each in a process of its own, judged by what the system counts.

    .venv/bin/python tests/line_cases/keras/run.py [--cases NAME ...] [--shares 0.4 0.6 0.8 1.0 1.2]

A small model is trained in each process first: the line of a case is what the engine holds after that and a share of what plimsoll.forecast() says. Over: the highest count of the process
(VmHWM) less the count before the line was drawn is more than the line leaves. A refusal has to come before the first batch, with its numbers, leave the weights
as they were, and let the same model train on with a smaller batch; the least line that it names must do, and 5 percent below it must not.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

MIB = 1 << 20
SPARE = 2 * MIB  # what the engine counts for code that is not there yet


def count(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name + ":"))


class Case:
    def __init__(self, name):
        import keras
        import numpy as np
        import plimsoll
        from cases import CASES
        self.keras, self.np, self.plimsoll = keras, np, plimsoll
        self.make = CASES[name]
        # what Python itself takes to trace and train for the first time is nobody's
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile("adam", "mse")
        x = np.zeros((5, 2), "float32")
        plimsoll.forecast(model, 3)
        model.fit(x, x[:, :1], batch_size=3, validation_data=(x, x[:, :1]), verbose=0)
        keras.utils.clear_session()

    def train(self, model, how, batch):
        begun = []
        steps = self.keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: begun.append(batch))
        try:
            if how.get("by_hand"):
                for at in range(3):
                    model.train_on_batch(how["x"][:batch], how["y"][:batch])
                    begun.append(1)
            else:
                model.fit(**how, epochs=2, verbose=0, callbacks=[steps])
        except self.plimsoll.MemoryLineError as error:
            return error, len(begun)
        return None, len(begun)

    def need(self):
        self.plimsoll.set_memory_limit("60%")
        engine = self.plimsoll.memory_use().engine
        model, how, batch = self.make()
        x = how["x"]
        y = how.get("y")
        if y is None:
            x, y = x[0] if hasattr(x, "__len__") else next(x)
        return {"engine": engine, "need": self.plimsoll.forecast(model, batch, x, y).total}

    def run(self, line):
        model, how, batch = self.make()  # arrays of the user's and Keras's own variables are there before
        weights = [self.np.array(w) for w in model.weights]
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")
        before = count("VmRSS")
        self.plimsoll.set_memory_limit(line)
        engine = self.plimsoll.memory_use().engine - SPARE
        error, steps = self.train(model, how, batch)
        out = {"outcome": "refused" if error else "trained", "steps": steps, "growth": count("VmHWM") - before, "room": line - engine}
        if error is None:
            return out
        out |= {n: getattr(error, n, None) for n in ("line", "need", "least", "batch", "largest_batch")} | {"text": str(error)[:400]}
        out["touched"] = any(not self.np.array_equal(w, b) for w, b in zip(model.weights, weights))
        smaller = out["largest_batch"] or 0
        if smaller:
            how = how | ({"batch_size": smaller, "validation_batch_size": min(smaller, how.get("validation_batch_size", smaller))} if "batch_size" in how else {})
            if "batch_size" not in how and not how.get("by_hand"):
                x, y = how["x"][0] if hasattr(how["x"], "__len__") else next(how["x"])
                how = {"x": x[:smaller], "y": y[:smaller], "batch_size": smaller}
            error, _ = self.train(model, how, smaller)
            out["went_on"] = "trained" if error is None else f"refused: {error}"[:400]
            out["growth_on"] = count("VmHWM") - before
        return out


def child(*args):
    process = subprocess.run([sys.executable, __file__, "--child", *map(str, args)], capture_output=True, text=True,
                             env=os.environ | {"KERAS_BACKEND": "plimsoll"})
    lines = [line for line in process.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if process.returncode == 0 and lines else {"outcome": f"died ({process.returncode})", "text": process.stderr[-600:]}


def judge(name, share, need):
    line = int(need["engine"] + share * need["need"])
    first = child(name, line)
    wrong, out = [], {"case": name, "share": share, "line": round(line / MIB, 1), **first}
    over = lambda run, key="growth": run.get(key, 0) > run["room"]
    if first["outcome"].startswith("died"):
        return out | {"verdict": "died"}
    if over(first):
        wrong.append("over" if first["outcome"] == "trained" else "over when refused")
    if first["outcome"] == "refused":
        if not first["least"]:
            return out | {"verdict": "no numbers"}
        if first["steps"]:
            wrong.append("refused after it began")
        if first["touched"] and not first["steps"]:
            wrong.append("weights touched")
        if first["largest_batch"] and first["went_on"] != "trained":
            wrong.append("largest batch too large")
        if over(first, "growth_on"):
            wrong.append("over with a smaller batch")
        at = child(name, first["least"])
        out["at_least"] = at
        if at["outcome"] != "trained":
            wrong.append(f"{at['outcome']} at least")
        elif over(at):
            wrong.append("over at least")
        lower = first["least"] - first["least"] // 20
        if lower > line:
            below = child(name, lower)
            out["below"] = below
            if below["outcome"] == "trained" and not over(below):
                wrong.append("least too high")
    return out | {"verdict": ", ".join(dict.fromkeys(wrong)) or "right"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", nargs="+")
    parser.add_argument("--cases", nargs="*")
    parser.add_argument("--shares", nargs="*", type=float, default=[])
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    if args.child:
        case = Case(args.child[0])
        return print(json.dumps(case.need() if args.child[1] == "need" else case.run(int(args.child[1]))))
    from cases import CASES
    counts, all_of = collections.Counter(), []
    spread = [0.4, 0.6, 0.8, 1.0, 1.2]
    for i, name in enumerate(CASES):
        if args.cases and name not in args.cases:
            continue
        need = child(name, "need")
        for share in args.shares or [spread[i % len(spread)]]:
            out = judge(name, share, need) if "need" in need else {"case": name, "verdict": "not a case", **need}
            counts[out["verdict"]] += 1
            all_of.append(out)
            brief = {k: v if not isinstance(v, int) or abs(v) < 1 << 16 else f"{v / MIB:.1f}" for k, v in out.items() if k not in ("at_least", "below")}
            for part in ("at_least", "below"):
                if part in out and "room" in out[part]:
                    brief[part] = f"{out[part]['outcome']} {(out[part]['growth'] - out[part]['room']) / MIB:+.1f}"
            if "room" in out:
                brief["over"] = f"{(out['growth'] - out['room']) / MIB:+.1f}"
            print(" ".join(f"{k}={v!r}" if k == "text" else f"{k}={v}" for k, v in brief.items()), flush=True)
    print(", ".join(f"{n} {v}" for v, n in counts.most_common()))
    if args.json:
        args.json.write_text(json.dumps(all_of, indent=1))


if __name__ == "__main__":
    main()
