"""A step under the memory line, beside PyTorch: time against memory, as a table and as a picture.

    python3 bench/line.py [--rounds 5] [--models MODEL ...] [--no-peers]        # about 10 minutes on two quiet cores

runs build/bin/line_steps (ours at 100, 50, 30 and 20 % of the arena) and bench/line_peer.py (torch, and torch with every block
checkpointed; by the Python that PLIMSOLL_PEERS names, of .venv-peers, or the system's, whichever has torch), writes
bench/line_results.json and docs/line_steps.svg, and prints the table for docs/memory.md. Nothing is downloaded or installed.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from environment import HERE, ROOT, machine_name

MODELS = ["cnn64bn_b32", "cnn100_b512", "resnet50_b8", "mobilenetv2_b16", "unet_b4", "vgg16_b16", "bert_b4", "lstm_b32"]
SHARES, ASKED = (100, 50, 30, 20), {50: 1.08, 30: 1.20, 20: 1.35}
PEER_SECONDS, PEER_TIMEOUT = 15, 60  # of one peer on one model: more steps are not taken then; it is left out then
PEERS = {"plain": "torch", "checkpoint": "torch, checkpoints"}


def torch_python():
    """An interpreter that has torch; None if there is none."""
    peers = pathlib.Path(os.environ.get("PLIMSOLL_PEERS", ROOT / ".venv-peers"))
    for python in (peers, peers / "bin" / "python", pathlib.Path("/usr/bin/python3")):
        if python.is_file() and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return str(python)
    return None


def measure_ours(models, rounds):
    found = {}
    for model in models:  # each in a process of its own: none finds what another has left
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            program = ROOT / "build" / "bin" / "line_steps"
            done = subprocess.run([program, "--rounds", str(rounds), "--json", file.name, model])
            if done.returncode != 0:
                sys.exit(f"{program} {model}: exit status {done.returncode}")
            found[model] = [json.loads(line) for line in file]
    return found


def measure_peers(models, rounds, threads):
    python = torch_python()
    if python is None:
        return {}, "torch: not installed"
    found, failed = {}, []
    for model in models:
        for mode, name in PEERS.items():
            command = [python, HERE / "line_peer.py", model, mode, str(rounds), str(threads), str(PEER_SECONDS)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=PEER_TIMEOUT)
            except subprocess.TimeoutExpired:
                failed.append(f"{name} {model}: two steps take more than {PEER_TIMEOUT} s")
                continue
            if done.returncode != 0:
                failed.append(f"{name} {model}: {(done.stderr.strip().splitlines() or ['exit status %d' % done.returncode])[-1]}")
                continue
            found.setdefault(model, {})[name] = json.loads(done.stdout)
            print(f"{model} {name}: {done.stdout.strip()}", flush=True)
    return found, "; ".join(failed)


def table(results):
    lines = ["| step | 100 % | 50 % | 30 % | 20 % | torch | torch, every block checkpointed |", "|---|---|---|---|---|---|---|"]
    for model, ours in results["ours"].items():
        cells, whole = [model], ours[0]["seconds"]
        for row in ours:
            if not row["seconds"]:
                cells.append(f"does not fit; least {row['arena'] / 2**20:.0f} MiB")
            else:
                parts = f", {row['parts']} parts" if row["parts"] > 1 else ""
                ratio = "" if row["share"] == 100 else f" ({row['seconds'] / whole:.2f}x{parts})"
                cells.append(f"{row['total'] / 2**20:.0f} MiB, {1e3 * row['seconds']:.0f} ms{ratio}")
        for name in PEERS.values():
            peer = results["peers"].get(model, {}).get(name)
            cells.append(f"{peer['total'] / 2**20:.0f} MiB, {1e3 * peer['seconds']:.0f} ms" if peer else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def missed(results):
    """Rows above what the issue asks for."""
    list_of = []
    for model, ours in results["ours"].items():
        for row in ours:
            most = ASKED.get(row["share"])
            if most and (not row["seconds"] or row["seconds"] > most * ours[0]["seconds"]):
                what = f"{row['seconds'] / ours[0]['seconds']:.2f}x" if row["seconds"] else "does not fit"
                list_of.append(f"{model} at {row['share']} %: {what} (asked {most}x)")
    return list_of


WIDTH, HEIGHT, LEFT, TOP, ACROSS = 300, 210, 58, 30, 2


def nice_step(most):
    step = 10 ** (len(str(int(most))) - 1) if most >= 1 else 0.1
    return next(s for s in (step / 5, step / 2, step, 2 * step) if most / s <= 6)


def panel(model, ours, peers, x0, y0):
    """Time against memory of one model, both from zero."""
    points = [(row["total"] / 2**20, 1e3 * row["seconds"], f"{row['share']} %") for row in ours if row["seconds"]]
    others = [(p["total"] / 2**20, 1e3 * p["seconds"], name) for name, p in peers.items()]
    most_x, most_y = (1.12 * max(p[i] for p in points + others) for i in (0, 1))
    at = lambda x, y: (x0 + LEFT + x / most_x * (WIDTH - LEFT - 12), y0 + HEIGHT - 34 - y / most_y * (HEIGHT - 34 - TOP))
    left, bottom = at(0, 0)
    right, top = at(most_x, most_y)
    svg = [f'<text x="{left:.0f}" y="{y0 + 18}" class="name">{model}</text>',
           f'<path d="M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}" class="axis"/>']
    for axis, most in ((0, most_x), (1, most_y)):
        step, value = nice_step(most), 0
        while value <= most:
            x, y = at(value, 0) if axis == 0 else at(0, value)
            svg.append(f'<text x="{x:.1f}" y="{y + 14:.1f}" class="tick" text-anchor="middle">{value:g}</text>' if axis == 0 else
                       f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" class="tick" text-anchor="end">{value:g}</text>')
            value = round(value + step, 6)
    svg.append('<path d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in (at(*p[:2]) for p in points)) + '" class="ours"/>')
    for x, y, text in points:
        px, py = at(x, y)
        svg.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" class="dot"/><text x="{px:.1f}" y="{py - 8:.1f}" class="tick" text-anchor="middle">{text}</text>')
    for x, y, text in others:
        px, py = at(x, y)
        svg.append(f'<path d="M{px - 4:.1f} {py:.1f}l4 -4l4 4l-4 4z" class="peer"/><text x="{px:.1f}" y="{py + 16:.1f}" class="tick" text-anchor="middle">{text}</text>')
    return "\n".join(svg)


def draw(results):
    models = list(results["ours"])
    rows = (len(models) + ACROSS - 1) // ACROSS
    width, height = ACROSS * WIDTH, rows * HEIGHT + 40
    panels = [panel(m, results["ours"][m], results["peers"].get(m, {}), i % ACROSS * WIDTH, 24 + i // ACROSS * HEIGHT) for i, m in enumerate(models)]
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">
<style>.name{{font-size:13px;font-weight:bold}}.tick{{font-size:9px;fill:#444}}.axis{{fill:none;stroke:#888}}.ours{{fill:none;stroke:#0b6e99;stroke-width:2}}.dot{{fill:#0b6e99}}.peer{{fill:#c2571a}}</style>
<rect width="{width}" height="{height}" fill="white"/>
<text x="{width / 2}" y="16" class="tick" text-anchor="middle">Milliseconds of a training step against MiB of memory. Line: Plimsoll at shares of its arena. Diamonds: PyTorch.</text>
{chr(10).join(panels)}
<text x="{width / 2}" y="{height - 6}" class="tick" text-anchor="middle">{results["machine"]}, {results["date"]}</text>
</svg>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS, metavar="MODEL")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "line_results.json")
    parser.add_argument("--svg", type=pathlib.Path, default=ROOT / "docs" / "line_steps.svg")
    args = parser.parse_args()
    ours = measure_ours(args.models, args.rounds)
    peers, left_out = ({}, "not asked") if args.no_peers else measure_peers(args.models, args.rounds, len(os.sched_getaffinity(0)))
    results = {"machine": machine_name(), "date": datetime.date.today().isoformat(), "load": os.getloadavg()[1], "ours": ours, "peers": peers,
               "left_out": left_out}
    args.results.write_text(json.dumps(results, indent=1) + "\n")
    args.svg.write_text(draw(results))
    print(table(results))
    for line in missed(results):
        print("missed:", line)
    if left_out:
        print("peers left out:", left_out)
    print(f"wrote {args.results} and {args.svg}")


if __name__ == "__main__":
    main()
