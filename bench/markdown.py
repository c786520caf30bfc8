"""The tables of README.md, docs/speed.md and docs/keras_speed.md, from a results file of run.py. The file itself is kept in docs/, so that
tests/readme_test.py can tell that nobody has touched a figure by hand."""
import json
import shutil

from peer_models import MODELS

BEGIN, END = "<!-- written by bench/run.py --markdown -->\n", "<!-- end -->\n"
WHAT = {"ms": "ms", "us": "µs", "s": "s", "MiB": "MiB"}


def label(result):
    busy = result.get("busy")
    return f"`{result['row']}`" + (f" beside {busy} endless loops" if busy else "")


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def spread(stats, unit):
    """Median (least to most of the rounds)."""
    text = f"{number(stats['median'])} {WHAT[unit]}"
    return text if stats["rounds"] == 1 else f"{text} ({number(stats['min'])}–{number(stats['max'])})"


def missing(result):
    """Peers without a figure, with the reason: a ratio must not look as if it were against everyone."""
    return "; ".join(f"{name}: {why}" for name, why in result["left_out"].items())


def table(results, everything=False):
    if not results:
        return ""
    head = ["row", "Plimsoll", "best peer", "ratio"] + (["other peers"] if everything else []) + ["not measured"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for result in results:
        best, unit = result["best"], result["unit"]
        cells = [label(result), spread(result["ours"], unit)]
        cells += [f"{best} {spread(result['peers'][best], unit)}", f"{result['ratio']:.3g}"] if best else ["", ""]
        if everything:
            others = sorted((p["median"], name) for name, p in result["peers"].items() if name != best)
            cells.append(", ".join(f"{name} {number(value)}" for value, name in others))
        lines.append("| " + " | ".join(cells + [missing(result)]) + " |")
    return "\n".join(lines) + "\n"


def heading(data):
    if not data["rows"]:
        return "Not measured yet: `make bench`, then `bench/run.py --markdown`.\n"
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    rounds = {r["ours"]["rounds"] for r in data["rows"] if r["ours"]["rounds"] > 1}
    others = max((r.get("others", 0) for r in data["rows"]), default=0)
    quiet = "with nothing else to do" if others <= 0.05 else f"**with other processes on up to {others:.0%} of it**"
    return (f"Measured {data['date']} on {data['machine']}, {data['threads']} threads for everyone, a machine {quiet}; medians of "
            f"{'/'.join(map(str, sorted(rounds)))} rounds, least and most in brackets. Peers: {versions}.\n")


def in_readme(result):
    """Training of every model, and one or two rows of each other kind. docs/speed.md has all."""
    row = result["row"]
    if result.get("busy"):
        return row in ("mnist_b128", "resnet50_b8", "lstm_b32", "transformer_b16")
    return row.startswith("keras_") or row.removeprefix("fit_") in MODELS or row in (
        "resnet50_b8_bf16", "lstm_b32_bf16", "transformer_b16_bf16", "resnet50_b8_predict", "transformer_b16_predict",
        "start_mnist_b128", "resident_cnn64bn_b32", "image_folder", "load_resnet50")


def replaced(text, body):
    """`text` with what stands between the marks replaced."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + body + END + rest.split(END)[1]


def readme_part(data):
    return heading(data) + "\n" + table([r for r in data["rows"] if in_readme(r)])


def speed_part(data):
    return heading(data) + "\n" + table(data["rows"], everything=True)


def pages(data):
    """Where these results are kept, and {page: its table}. Of Keras's rows alone there is a page of its own."""
    if all(r["row"].startswith("keras_") for r in data["rows"]):
        return "docs/keras_speed.json", {"docs/keras_speed.md": speed_part(data)}
    return "docs/speed.json", {"README.md": readme_part(data), "docs/speed.md": speed_part(data)}


def write(path, root):
    data = json.loads(path.read_text())
    kept, parts = pages(data)
    for name, part in parts.items():
        page = root / name
        page.write_text(replaced(page.read_text(), part))
    if path.resolve() != (root / kept).resolve():
        shutil.copyfile(path, root / kept)
    return 0
