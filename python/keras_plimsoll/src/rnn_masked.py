"""Masked LSTM and GRU layers on the engine's lstm and gru, which know no mask.

A masked step gets one more feature, 1, whose row of the kernel shuts the gates: the sum of a gate's inputs is then so large or small that
its sigmoid is 1 or 0 exactly. A GRU keeps its state so (z = 1). An LSTM keeps c (i = 0, f = 1) but not h, which does not matter after the
last step that counts: each row is moved so that its masked beginning comes last. A mask with holes goes step by step.

The mask comes to rnn() with the function of one step: the layer's cell is in its closure.
"""
from keras.src import tree

from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops.core import cond, convert_to_tensor

SHUT = 1e4  # also in float16


def cell_of(step_function):
    """The layer's cell if it is a plain LSTM or GRU without dropout; else None."""
    from keras.src import activations
    from keras.src.layers.rnn.gru import GRUCell
    from keras.src.layers.rnn.lstm import LSTMCell

    names = getattr(getattr(step_function, "__code__", None), "co_freevars", ())
    inside = dict(zip(names, (c.cell_contents for c in getattr(step_function, "__closure__", None) or ())))
    cell, training = getattr(inside.get("self"), "cell", None), inside.get("cell_kwargs", {}).get("training")
    if type(cell) not in (LSTMCell, GRUCell) or (type(cell) is GRUCell and not cell.reset_after):
        return None
    plain = cell.activation is activations.tanh and cell.recurrent_activation is activations.sigmoid
    return cell if plain and not (training and (cell.dropout or cell.recurrent_dropout)) else None


def run(cell, inputs, states, mask, step_by_step):
    """(outputs, states) over inputs (batch, time, features) and a mask (batch, time), with the states before the first step."""
    inputs = f.to_float(inputs)
    weights = [convert_to_tensor(w, inputs.dtype) for w in (cell.kernel, cell.recurrent_kernel)]
    states = [convert_to_tensor(s, inputs.dtype) for s in tree.flatten(states)]
    units, gates = cell.units, 4 if len(states) == 2 else 3
    bias_shape = [4 * units] if gates == 4 else [2, 3 * units]
    bias = f.filled(bias_shape, inputs.dtype) if cell.bias is None else convert_to_tensor(cell.bias, inputs.dtype)
    masked = f.expanded(f.cast(call("logical_not", mask), inputs.dtype), 2)
    shut = {4: (-SHUT, SHUT, 0.0, -SHUT), 3: (SHUT, 0.0, 0.0)}[gates]
    row = f.joined([f.filled([1, units], inputs.dtype, value) for value in shut], 1)
    operands = [f.joined([inputs, masked], 2), *states, f.joined([weights[0], row], 0), weights[1], bias]
    if gates == 3:
        y, h = call("gru", *operands)[:2]
        return y, [h]
    y, h, c = cond(_has_no_holes(mask), lambda: _lstm(operands, mask), lambda: _flat(step_by_step()))
    return y, [h, c]


def _flat(result):
    outputs, states = result
    return (outputs, *states)


def _rows(x, steps):
    """x[b, steps[b, t]]"""
    batch, time, width = x.shape
    at = f.add(f.multiply(f.positions(steps.shape, 0), time), steps)
    return call("take", f.reshaped(x, [batch * time, width]), at, axis=0)


def _lstm(operands, mask):
    inputs, h0, *others = operands
    batch, time = mask.shape
    step = f.positions(mask.shape, 1)
    first = f.reduce("min", f.where(mask, step, time), 1, keepdims=True)
    count = f.reduce("sum", f.cast(mask, "int32"), 1, keepdims=True)
    first = f.where(f.equal(count, 0), 0, first)
    y, _, c = call("lstm", _rows(inputs, f.mod(f.add(step, first), time)), h0, *others)[:3]
    # Each step has the output of the last step that counts up to it, or the state before all.
    counted = f.minimum(f.subtract(f.add(step, 1), first), count)
    held = _rows(y, f.maximum(f.subtract(counted, 1), 0))
    none_yet = f.broadcasted(f.expanded(f.less_equal(counted, 0), 2), held.shape)
    y = f.where(none_yet, f.broadcasted(f.expanded(h0, 1), held.shape), held)
    return y, f.at(y, 1, -1), c


def _has_no_holes(mask):
    """Each row's steps that count are one after the other."""
    before = f.joined([f.filled([mask.shape[0], 1], "bool"), f.cut(mask, 1, 0, mask.shape[1] - 1)], 1)
    rises = f.cast(f.logical_and(mask, call("logical_not", before)), "int32")
    return f.reduce("and", f.less_equal(f.reduce("sum", rises, 1), 1))
