"""plimsoll.MemoryMonitor: a callback that writes what is held while `fit` runs."""
import csv
import threading
import time

from keras.src.callbacks.callback import Callback

from plimsoll.memory import MemoryUse, memory_use


class MemoryMonitor(Callback):
    """Writes a line of CSV every `every` seconds: seconds, epoch and what plimsoll.memory_use() says, in bytes. After `most_lines` it
    writes half as often, and so on. It does not look at batches, so that the engine still runs them without Python."""

    def __init__(self, filename, every=1.0, most_lines=10_000):
        super().__init__()
        if every <= 0 or most_lines < 1:
            raise ValueError(f"[MemoryMonitor] expected every > 0 and most_lines > 0, got {every!r} and {most_lines!r}")
        self.filename, self.every, self.most_lines = filename, every, most_lines
        self.thread, self.epoch = None, 0

    def on_train_begin(self, logs=None):
        self._end()
        self.file = open(self.filename, "w", newline="")
        self.lines, self.start, self.pause, self.over = csv.writer(self.file), time.monotonic(), self.every, threading.Event()
        self.written, self.lock = 0, threading.Lock()
        self.lines.writerow(["seconds", "epoch", *MemoryUse._fields])
        self.thread = threading.Thread(target=self._watch, name="MemoryMonitor", daemon=True)
        self.thread.start()

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        self._write()

    def on_train_end(self, logs=None):
        self._end()

    def _watch(self):
        while not self.over.wait(self.pause):
            self._write()

    def _write(self):
        with self.lock:
            self.lines.writerow([f"{time.monotonic() - self.start:.3f}", self.epoch, *memory_use()])
            self.file.flush()
            self.written += 1
            if self.written % self.most_lines == 0:
                self.pause *= 2

    def _end(self):
        if self.thread is not None:
            self.over.set()
            self.thread.join()
            self.thread = None
            self.file.close()
