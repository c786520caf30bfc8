"""Connectionist temporal classification (Graves et al., 2006)."""
import numpy as np
from keras.src.backend.common.dtypes import result_type

from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops._losses import one_hot
from keras_plimsoll.src.ops.core import cast, convert_to_numpy, convert_to_tensor, scan

IMPOSSIBLE = -1e5  # a log of a probability; finite, so that differences of it are numbers


def _log_sum(*terms):
    top = terms[0]
    for term in terms[1:]:
        top = f.maximum(top, term)
    total = None
    for term in terms:
        part = call("exp", f.subtract(term, top))
        total = part if total is None else f.add(total, part)
    return f.add(top, call("log", total))


def _delayed(x, steps):
    """The state `steps` places before each, (batch, states)."""
    moved = f.cut(x, 1, 0, max(x.shape[1] - steps, 0))
    return f.padded(moved, [0, x.shape[1] - moved.shape[1]], [0, 0], value=IMPOSSIBLE)


def ctc_loss(target, output, target_length, output_length, mask_index=0):
    target, output = convert_to_tensor(target, dtype="int32"), convert_to_tensor(output)
    target_length, output_length = convert_to_tensor(target_length, "int32"), convert_to_tensor(output_length, "int32")
    output = cast(output, result_type(output.dtype, "float32"))
    (batch, labels), (_, time, classes) = target.shape, output.shape
    states = 2 * labels + 1  # a blank before, between and after the labels
    blanks = f.filled([batch, labels, 1], "int32", mask_index)
    pairs = f.reshaped(f.joined([blanks, f.expanded(target, 2)], 2), [batch, 2 * labels])
    symbols = f.joined([pairs, f.filled([batch, 1], "int32", mask_index)], 1)
    two_before = f.padded(f.cut(symbols, 1, 0, max(states - 2, 0)), [0, min(2, states)], [0, 0], value=mask_index)
    place = f.positions([1, states], 1)
    # The blank between two labels that differ may be left out.
    may_skip = f.logical_and(f.equal(f.mod(place, 2), 1), f.not_equal(symbols, two_before))

    log_prob = call("log_softmax", output, axis=-1)
    emitted = call("dot_general", log_prob, one_hot(symbols, classes, dtype=output.dtype), a_contract=[2], b_contract=[2],
                   a_batch=[0], b_batch=[0])
    emitted = f.swapped(emitted, 0, 1)  # (time, batch, states)
    runs = f.less(f.positions([time, batch], 0), f.reshaped(output_length, [1, batch]))
    alpha = f.where(f.less(place, 2), f.at(emitted, 0, 0), IMPOSSIBLE)

    def step(alpha, item):
        here, running = item
        two = f.where(may_skip, _delayed(alpha, 2), IMPOSSIBLE)
        moved = f.add(_log_sum(alpha, _delayed(alpha, 1), two), here)
        return f.where(f.expanded(running, 1), moved, alpha), ()

    if time > 1:
        alpha, _ = scan(step, alpha, (f.cut(emitted, 0, 1, time), f.cut(runs, 0, 1, time)))
    last = f.expanded(f.multiply(target_length, 2), 1)
    ends = f.logical_or(f.equal(place, last), f.equal(place, f.subtract(last, 1)))
    scores = f.where(ends, alpha, 2.0 * IMPOSSIBLE * max(time, 1))
    top = f.reduce("max", scores, 1, keepdims=True)
    total = call("log", f.reduce("sum", call("exp", f.subtract(scores, top)), 1))
    return call("negative", f.add(f.reshaped(top, [batch]), total))


def ctc_decode(inputs, sequence_lengths, strategy="greedy", beam_width=100, top_paths=1, merge_repeated=True, mask_index=0):
    inputs = convert_to_tensor(inputs)
    inputs = cast(inputs, result_type(inputs.dtype, "float32"))
    lengths = convert_to_tensor(sequence_lengths, dtype="int32")
    mask_index = inputs.shape[-1] - 1 if mask_index is None else mask_index
    if strategy == "greedy":
        return _greedy(inputs, lengths, merge_repeated, mask_index)
    if strategy == "beam_search":
        return _beam_search(convert_to_numpy(inputs), convert_to_numpy(lengths), beam_width, top_paths, mask_index)
    raise ValueError(f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'.")


def _greedy(inputs, lengths, merge_repeated, mask_index):
    batch, time, _ = inputs.shape
    place = f.positions([batch, time], 1)
    over = f.greater_equal(place, f.expanded(lengths, 1))
    best = f.where(over, mask_index, call("argmax", inputs, axis=-1))
    scores = f.where(over, 0.0, f.reduce("max", inputs, -1))
    blank = f.equal(best, mask_index)
    if merge_repeated:
        before = f.padded(f.cut(best, 1, 0, time - 1), [0, 1], [0, 0], value=-1.0)
        blank = f.logical_or(blank, f.equal(best, before))
    # Blanks go to the end, the rest keeps its order.
    order = f.where(blank, time, place)
    _, labels = call("sort", order, f.where(blank, -1, best), axis=-1)
    return f.expanded(labels, 0), call("negative", f.expanded(f.reduce("sum", scores, 1), 1))


def _beam_search(inputs, lengths, beam_width, top_paths, blank):
    """On values: the number of paths depends on them."""
    batch, time, classes = inputs.shape
    top = inputs.max(-1, keepdims=True)
    log_prob = inputs - top - np.log(np.exp(inputs - top).sum(-1, keepdims=True))
    paths = np.full((top_paths, batch, time), -1, "int32")
    scores = np.full((batch, top_paths), -np.inf, inputs.dtype)
    for b in range(batch):
        beams = _beams(log_prob[b, : max(int(lengths[b]), 1)], beam_width, blank)
        for k, (labels, score) in enumerate(beams[:top_paths]):
            paths[k, b, : len(labels)] = labels
            scores[b, k] = score
    return convert_to_tensor(paths), convert_to_tensor(scores)


def _beams(log_prob, beam_width, blank):
    """[(labels, log of probability)], best first; of equals the one with smaller labels."""
    beams = {(): (0.0, -np.inf)}  # labels -> logs of the probabilities that the last symbol was a blank, or not
    for row in log_prob:
        grown = {}

        def reach(labels, blank_part, label_part):
            old_blank, old_label = grown.get(labels, (-np.inf, -np.inf))
            grown[labels] = np.logaddexp(old_blank, blank_part), np.logaddexp(old_label, label_part)

        for labels, (ends_blank, ends_label) in beams.items():
            both = np.logaddexp(ends_blank, ends_label)
            for c, p in enumerate(row):
                if c == blank:
                    reach(labels, both + p, -np.inf)
                elif labels and labels[-1] == c:
                    reach(labels, -np.inf, ends_label + p)
                    reach(labels + (c,), -np.inf, ends_blank + p)
                else:
                    reach(labels + (c,), -np.inf, both + p)
        beams = dict(_best(grown, beam_width))
    return [(labels, np.logaddexp(*parts)) for labels, parts in _best(beams, len(beams))]


def _best(beams, count):
    def rank(item):
        labels, parts = item
        return np.logaddexp(*parts), tuple(-c for c in labels), len(labels)

    return sorted(beams.items(), key=rank, reverse=True)[:count]
