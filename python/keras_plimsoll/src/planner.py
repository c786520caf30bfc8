"""What a training step will take before it runs: plimsoll.forecast(), fit(batch_size="max"), and the words of a refusal."""
import contextlib
from collections import namedtuple

from keras.src import losses, tree

from keras_plimsoll.src import engine
from keras_plimsoll.src.steps import Steps, flatten, is_array
from plimsoll import _native
from plimsoll.errors import MemoryLineError
from plimsoll.memory import memory_use

NO_LINE_SHARE = "80%"  # of what this process could have: batch_size="max" where no line is drawn
SHOWN_LAYERS = 3
OTHER_PROGRAM = 1.25  # of the same step for another batch, which may have other kernels: its size by that of the first, at most


class MemoryForecast(namedtuple("MemoryForecast", "weights state arena constants programs data layers")):
    """Bytes. `layers`: shares of the arena when it is fullest, heaviest first."""

    __slots__ = ()

    @property
    def total(self):
        return self.weights + self.state + self.arena + self.constants + self.programs + self.data

    def __str__(self):
        text = _native.memory_text
        parts = [("weights", self.weights), ("optimizer and metrics", self.state), ("the step", self.arena),
                 ("its Program", self.programs + self.constants), ("batches", self.data)]
        return f"{text(self.total)}: " + ", ".join(f"{name} {text(size)}" for name, size in parts)


def forecast(model, batch_size, x=None, y=None):
    """What training of a compiled model with such batches will hold. Takes none of it. The types of a batch are those of the model's
    inputs, and of the labels that its losses expect; `x` and `y`, arrays of any length, say them where that is not known."""
    model._assert_compile_called("forecast")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"[forecast] expected a batch size > 0, got {batch_size!r}")
    batch = _batch_of(model) if x is None else (x, y) if y is not None else (x,)
    leaves, spec = flatten(batch)
    types = [(str(a.dtype), tuple(a.shape[1:])) if is_array(a) or hasattr(a, "shape") else a for a in leaves]
    sized = lambda n: [(t[0], (n, *t[1])) if type(t) is tuple else t for t in types]
    model._symbolic_build(optimizer=False, data_batch=spec.unflatten([_Sized(*t) if type(t) is tuple else t for t in sized(2)]))
    return Plan(model, sized, spec).forecast(batch_size)


class _Sized:
    """Stands for an array where only its type is asked for."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, shape

    def __array__(self, *_):
        raise TypeError("only the type of this array is known")


def _batch_of(model):
    if not getattr(model, "inputs", None):
        raise ValueError("[forecast] the model does not know its inputs: begin it with an Input, or give x and y")
    x = [_Sized(i.dtype, i.shape) for i in model.inputs]
    names = getattr(model, "output_names", [None])
    y = [_labels(output, _loss_of(model.loss, i, name)) for i, (output, name) in enumerate(zip(model.outputs, names))]
    for part in x + y:
        if None in part.shape[1:]:
            raise ValueError(f"[forecast] a size of {part.shape} is not known before there is data: give x and y")
    return (x[0] if len(x) == 1 else x, y[0] if len(y) == 1 else y)


def _loss_of(loss, index, name):
    if isinstance(loss, dict):
        return loss.get(name)
    flat = tree.flatten(loss)
    return flat[index] if len(flat) > 1 else flat[0]


def _labels(output, loss):
    sparse = isinstance(loss, losses.SparseCategoricalCrossentropy) or \
        getattr(loss, "__name__", loss) in ("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy")
    return _Sized("int32", output.shape[:-1]) if sparse else _Sized("float32", output.shape)


class Plan:
    """Steps of a built model over batches whose leaves have the types sized(rows); of data with `count` rows, if it is known. `beside`: the plan of
    other steps that share its arena, and their rows."""

    def __init__(self, model, sized, spec, count=None, kind="train", beside=None):
        self.model, self.sized, self.spec, self.count, self.kind, self.beside = model, sized, spec, count, kind, beside
        self.known = {}
        self.windows, self.unlimited = {}, {}  # by rows: what of spilled state is in memory while a step runs, the arena without a line

    def forecast(self, rows, least=False):
        """Under the line there is; `least`: with the smallest arena there is."""
        if (rows, least) not in self.known:
            model, types = self.model, self.sized(rows)
            with _planned_optimizer(model):
                report = Steps(getattr(model, f"{self.kind}_step")).forecast(types, self.spec, least)
                state = _bytes([*_optimizer_variables(model), *model.metrics_variables]) - report["spilled"] + report["window"]
            data = sum(engine.numpy_dtype(t[0]).itemsize * _product(t[1]) for t in types if type(t) is tuple)
            self.windows[rows], self.unlimited[rows] = report["window"], report["unlimited"]
            self.known[rows, least] = MemoryForecast(_bytes(model.variables), state, report["arena"], report["constants"], report["program"],
                                                     data, [(layer or "(no layer)", size) for layer, size in report["layers"]])
        return self.known[rows, least]

    def more(self, rows, least=False):
        """Bytes of it that are not held yet."""
        f, workshop = self.forecast(rows, least), getattr(self.model, "_workshop", None)
        window, arena = (0, 0) if workshop is None else (workshop.place.spilled_bytes, workshop.place.arena_bytes)
        built = self.model.optimizer is None or self.model.optimizer.built
        state = max(self.windows[rows] - window, 0) if built else f.state - _bytes(self.model.metrics_variables)
        own, other = self.shares(rows, least), (0, 0, 0) if self.beside is None else self.beside[0].shares(self.beside[1])
        return max(own[0], other[0], arena) - arena + state + own[1] + other[1] + max(own[2], other[2])

    def shares(self, rows, least=True):
        """Bytes of the arena, of the Programs, and of the batch: of two kinds of steps the larger arena and batch, and the Programs of both."""
        f = self.forecast(rows, least)
        program = f.constants + f.programs
        last = program * OTHER_PROGRAM if self.count is not None and self.count % rows else 0  # of the smaller batch at the end
        return f.arena, program + int(last), f.data

    def largest(self, most, left):
        """The largest batch of at most so many rows that takes no more than `left` bytes; 0: none. What is needed grows with it."""
        fits, too_large = 0, most + 1
        if self.more(most) <= left:
            return most
        while too_large - fits > 1:
            middle = (fits + too_large) // 2
            fits, too_large = (middle, too_large) if self.more(middle) <= left else (fits, middle)
        return fits

    def refusal(self, rows, error, what="[fit] a batch"):
        """`error` with the numbers, and with what would fit."""
        if getattr(self.model, "_workshop", None) is not None:
            self.model._workshop.forget()
        f, smallest, more = self.forecast(rows), self.forecast(rows, least=True), self.more(rows, least=True)
        limit = memory_use().limit
        fits, noise = 0, 0
        for _ in range(2):  # planning brings code into memory that a step needs too
            if limit is not None and rows > 1:
                fits = self.largest(rows - 1, limit - memory_use().engine - noise)
            noise = _native.measure_memory()
        made = MemoryLineError()
        made.line, made.batch, made.largest_batch, made.layers = limit or 0, rows, fits, f.layers
        made.least = memory_use().engine + more + noise
        made.need = made.least + max(self.unlimited[rows] - smallest.arena, 0)
        text = _native.memory_text
        heaviest = ", ".join(f"{layer} {text(size)}" for layer, size in f.layers[:SHOWN_LAYERS])
        made.args = (
            f"{what} of {rows} needs {text(made.need)}, allowed are {text(limit) if limit is not None else 'what the system has'} "
            f"(this model takes {f}); the least line that would do is {_native.line_text(made.least)}; "
            + (f"the largest batch that fits is {fits}" if fits else "no batch fits") + f"; heaviest layers: {heaviest}. {error}",)
        return made


def plan_of(model, batch, kind):
    """For batches like this one, and its rows."""
    leaves, spec = flatten(batch)
    types = [(str(x.dtype), tuple(x.shape)) if is_array(x) else x for x in leaves]
    rows = next((t[1][0] for t in types if type(t) is tuple and t[1]), 1)
    sized = lambda n: [(t[0], (n, *t[1][1:])) if type(t) is tuple and t[1][:1] == (rows,) else t for t in types]
    return Plan(model, sized, spec, kind=kind), rows


def _optimizer_variables(model):
    return [] if model.optimizer is None else model.optimizer.variables


def largest_batch(model, feed):
    """For fit(batch_size="max")."""
    if feed is None:
        raise ValueError('[fit] batch_size="max" needs arrays, got data that comes in batches of its own')
    use = memory_use()
    limit = _native.parse_memory(NO_LINE_SHARE) if use.limit is None else use.limit
    plan = Plan(model, feed.types, feed.spec, feed.count)
    fits = plan.largest(feed.count, limit - use.engine)
    if not fits:
        raise plan.refusal(1, MemoryLineError("Not even a batch of 1 fits."))
    return fits


def _product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def _bytes(variables):
    return sum(engine.numpy_dtype(v.dtype).itemsize * _product(v.shape) for v in {id(v): v for v in variables}.values())


@contextlib.contextmanager
def _planned_optimizer(model):
    """One that is not built yet is planned with: its variables take no memory."""
    optimizer = model.optimizer
    if optimizer is None or optimizer.built:
        yield
        return
    model.optimizer = type(optimizer).from_config(optimizer.get_config())
    try:
        with engine.planning():
            model.optimizer.build(model.trainable_variables)
        yield
    finally:
        model.optimizer = optimizer
