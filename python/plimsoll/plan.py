"""plimsoll.plan(model): what a training step will hold, as a picture beside the memory line."""
from html import escape

from plimsoll import memory
from plimsoll._native import memory_text
from plimsoll.drawing import COLOURS, stack, text_bar

PARTS = (("weights", "weights"), ("state", "optimizer and metrics"), ("arena", "activations, gradients, scratch"),
         ("programs", "the step's own code and plan"), ("constants", "constants"), ("data", "batches"))
MOST_LAYERS = 7  # named one by one; the rest is one part


def plan(model, batch_size=32, x=None, y=None):
    """The forecast for training `model` with such batches, shown inline in a notebook and as text elsewhere; takes none of it. `x` and `y`
    as in plimsoll.forecast()."""
    from plimsoll import forecast
    return Picture(forecast(model, batch_size, x, y), batch_size, memory.memory_use().limit)


class Picture:
    def __init__(self, forecast, batch_size, limit):
        self.forecast, self.batch_size, self.limit = forecast, batch_size, limit

    def parts(self):
        return [(getattr(self.forecast, name), words) for name, words in PARTS if getattr(self.forecast, name)]

    def layers(self):
        """Shares of the arena when it is fullest."""
        named = list(self.forecast.layers[:MOST_LAYERS])
        rest = sum(size for _, size in self.forecast.layers[MOST_LAYERS:])
        return [(size, name) for name, size in named] + ([(rest, "other layers")] if rest else [])

    def verdict(self):
        total = memory_text(self.forecast.total)
        if self.limit is None:
            return f"a batch of {self.batch_size} needs {total}; no line is drawn"
        fits = "fits under" if self.forecast.total <= self.limit else "does not fit under"
        return f"a batch of {self.batch_size} needs {total}: {fits} the line of {memory_text(self.limit)}"

    def __repr__(self):
        rows = [self.verdict()]
        for title, parts in (("", self.parts()), ("activations by layer, when most is live", self.layers())):
            whole = sum(size for size, _ in parts) or 1
            rows += [title] * bool(title and parts)
            rows += [f"  {text_bar(size / whole)} {memory_text(size):>10}  {words}" for size, words in parts]
        return "\n".join(rows)

    def _repr_html_(self):
        whole = max(self.forecast.total, self.limit or 0)
        layers = self.layers()
        shown = [f"<b>{escape(self.verdict())}</b>", bar(self.parts(), whole, self.limit)]
        if layers:
            shown += ["activations by layer, when most is live", bar(layers, sum(size for size, _ in layers))]
        return "".join(f"<div>{part}</div>" for part in shown)


def bar(parts, whole, mark=None):
    coloured = [(size, COLOURS[i % len(COLOURS)], f"{words} {memory_text(size)}") for i, (size, words) in enumerate(parts)]
    legend = "".join(f'<span style="margin-right:14px;display:inline-block;white-space:nowrap"><span style="color:{colour}">&#9632;</span> {escape(title)}</span>'
                     for _, colour, title in coloured)
    return f'{stack(coloured, whole, mark)}<div style="font-size:90%">{legend}</div>'
