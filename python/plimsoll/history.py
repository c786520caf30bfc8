"""Keras's History, shown as curves at the end of a notebook's cell, and as a few lines where there is no HTML."""
from plimsoll.drawing import curves, number


def install(history_class):
    history_class._repr_html_ = as_html
    history_class._repr_pretty_ = lambda self, printer, cycle: printer.text(as_text(self))


def charts(history):
    """Each metric with its twin on validation data."""
    names = [name for name in history if not name.startswith("val_") or name[4:] not in history]
    return [(name, [(n, history[n]) for n in (name, f"val_{name}") if n in history]) for name in names]


def numeric(values):
    """What can be drawn: a callback may put anything into the logs."""
    try:
        return [float(v) for v in values]
    except (TypeError, ValueError):
        return []


def series_of(callback):
    return {name: drawn for name, values in callback.history.items() if (drawn := numeric(values))}


def as_html(callback):
    pictures = [curves(name, series) for name, series in charts(series_of(callback))]
    return f'<div style="display:flex;flex-wrap:wrap;gap:12px">{"".join(pictures)}</div>' if any(pictures) else None


def as_text(callback):
    history = series_of(callback)
    epochs = max(map(len, history.values()), default=0)
    lines = [f"History of {epochs} epoch{'' if epochs == 1 else 's'}"]
    width = max(map(len, history), default=0)
    lines += [f"  {name:<{width}}  {number(values[0])} -> {number(values[-1])}   least {number(min(values))}, most {number(max(values))}"
              for name, values in history.items()]
    return "\n".join(lines)
