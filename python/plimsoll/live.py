"""The progress bar of `fit` in a notebook with the memory line under it, live.

Keras writes its bar to stdout, and what is displayed after that would stand above the next piece of it. So while a `fit` shows its bar,
all that Keras prints goes into one display, with a line on memory as its last.
"""
import functools
import re
from html import escape

from plimsoll import memory
from plimsoll._native import memory_text
from plimsoll.drawing import COLOURS, stack, text_bar

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
MOST_LINES = 400  # kept of a long training; the first ones go


class Screen:
    """What a terminal shows of text with \\r, \\b and \\n."""

    def __init__(self):
        self.lines, self.at = [[]], 0

    def write(self, text):
        for c in ESCAPES.sub("", text):
            if c == "\n":
                self.lines.append([])
                self.at = 0
            elif c == "\r":
                self.at = 0
            elif c == "\b":
                self.at = max(0, self.at - 1)
            else:
                self.lines[-1][self.at:self.at + 1] = c
                self.at += 1
        del self.lines[:-MOST_LINES]

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).strip("\n")


def line_text(use):
    held = f"{memory_text(use.engine)} (at most {memory_text(use.engine_peak)})"
    if use.limit is None:
        return f"memory {held}, no line; process {memory_text(use.resident)}"
    return f"memory {text_bar(use.engine / max(use.limit, 1))} {held} of {memory_text(use.limit)}; process {memory_text(use.resident)}"


def line_html(use):
    if use.limit is None:
        return escape(line_text(use))
    peak = max(0, use.engine_peak - use.engine)
    bar = stack([(use.engine, COLOURS[0], "held now"), (peak, COLOURS[0] + "66", "held at most")], use.limit, use.limit, 240, 18)
    words = f"{memory_text(use.engine)} (at most {memory_text(use.engine_peak)}) of {memory_text(use.limit)}; process {memory_text(use.resident)}"
    return f'<span style="display:inline-flex;flex-wrap:wrap;align-items:center;gap:8px;font-size:90%">memory {bar} {escape(words)}</span>'


class Live:
    """One display: what was printed, and the memory line."""

    def __init__(self, display):
        self.screen, self.display, self.handle = Screen(), display, None

    def write(self, text):
        self.screen.write(text)
        self.show()

    def show(self):
        use, text = memory.memory_use(), self.screen.text()
        bundle = {"text/plain": f"{text}\n{line_text(use)}",
                  "text/html": f'<pre style="margin:0">{escape(text)}</pre><div>{line_html(use)}</div>'}
        if self.handle is None:
            self.handle = self.display(bundle, raw=True, display_id=True)
        else:
            self.handle.update(bundle, raw=True)


class LiveLine:
    """Puts Keras's progress bar of `fit` into such displays; undone by remove()."""

    def __init__(self, display):
        from keras.src.callbacks.progbar_logger import ProgbarLogger
        from keras.src.utils import io_utils
        self.current, self.display, self.io, self.logger = None, display, io_utils, ProgbarLogger
        self.there = io_utils.print_msg, ProgbarLogger.on_train_begin, ProgbarLogger.on_train_end
        print_msg, begin, end = self.there

        @functools.wraps(print_msg)
        def to_display(message, line_break=True):
            if self.current is None or not io_utils.is_interactive_logging_enabled():
                return print_msg(message, line_break)
            self.current.write(f"{message}\n" if line_break else str(message))

        @functools.wraps(begin)
        def on_train_begin(logger, logs=None):
            begin(logger, logs)
            self.current = Live(self.display) if logger.verbose == 1 else None

        @functools.wraps(end)
        def on_train_end(logger, logs=None):
            end(logger, logs)
            self.finish()

        io_utils.print_msg, ProgbarLogger.on_train_begin, ProgbarLogger.on_train_end = to_display, on_train_begin, on_train_end

    def finish(self, *_):
        """Also at the end of each cell: a `fit` that fails does not say so to its callbacks."""
        if self.current is not None:
            self.current.show()
            self.current = None

    def remove(self):
        self.io.print_msg, self.logger.on_train_begin, self.logger.on_train_end = self.there
