"""Recurrent layers: the engine's lstm and gru where they fit, else a scan over the step that the layer gives."""
from keras.src import tree as _tree

from keras_plimsoll.src import rnn_masked as _masked
from keras_plimsoll.src.engine import call as _call
from keras_plimsoll.src.ops import _formula as _f
from keras_plimsoll.src.ops.core import cast as _cast
from keras_plimsoll.src.ops.core import convert_to_tensor as _tensor
from keras_plimsoll.src.ops.core import scan as _scan


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False, input_length=None,
        time_major=False, zero_output_for_mask=False, return_all_outputs=True):
    inputs = _tree.map_structure(_tensor, inputs)
    if not time_major:
        inputs = _tree.map_structure(lambda x: _f.swapped(x, 0, 1), inputs)
    if mask is not None:
        mask = _cast(_tensor(mask), "bool")
        mask = mask if time_major else _f.swapped(mask, 0, 1)
    states = _tree.map_structure(_tensor, initial_states)
    cell = None if mask is None or unroll or constants else _masked.cell_of(step_function)
    if cell is not None:
        last_output, outputs, states = _without_steps(cell, step_function, inputs, states, mask, go_backwards, zero_output_for_mask,
                                                      return_all_outputs)
    else:
        run = _unrolled if unroll else _scanned
        step = _Step(step_function, constants, zero_output_for_mask)
        last_output, outputs, states = run(step, inputs, states, mask, go_backwards, return_all_outputs)
    if not time_major:
        outputs = _tree.map_structure(lambda x: _f.swapped(x, 0, 1), outputs)
    return last_output, outputs, states


class _Step:
    """One step of a layer, with its constants, that leaves the states of masked rows as they are."""

    def __init__(self, function, constants, zero_output):
        self.function, self.constants, self.zero_output = function, constants or [], zero_output

    def __call__(self, states, item, mask):
        output, new_states = self.function(item, (*states, *self.constants))
        new_states = _tree.pack_sequence_as(states, _tree.flatten(new_states))
        if mask is None:
            return output, new_states
        before = None if self.zero_output else _previous_output(states)
        output = _tree.map_structure(lambda new: _kept(mask, new, before), output)
        new_states = _tree.map_structure(lambda new, old: _kept(mask, new, old), new_states, states)
        return output, new_states


def _previous_output(states):
    """The first state, of the last cell where there are several, as Keras's own cells have it."""
    return states[-1][0] if _tree.is_nested(states[0]) else states[0]


def _kept(mask, new, old):
    """`new` where the mask says so, else `old` (zeros: None). The mask has the batch first, and maybe a last axis of 1."""
    rows = _f.reshaped(mask, [mask.shape[0]] + [1] * (new.ndim - 1))
    return _f.where(rows, new, 0.0 if old is None or old.shape != new.shape else _f.cast(old, new.dtype))


def _without_steps(cell, step_function, inputs, states, mask, go_backwards, zero_output, return_all_outputs):
    if go_backwards:
        inputs, mask = (_call("reverse", x, axes=[0]) for x in (inputs, mask))
    mask = _f.reshaped(mask, mask.shape[:2])

    def step_by_step():
        _, outputs, new_states = _scanned(_Step(step_function, None, False), inputs, states, mask, False, True)
        return _f.swapped(outputs, 0, 1), new_states

    by_time = _f.swapped(mask, 0, 1)
    outputs, new_states = _masked.run(cell, _f.swapped(inputs, 0, 1), states, by_time, step_by_step)
    if zero_output:
        outputs = _f.where(_f.broadcasted(_f.expanded(by_time, 2), outputs.shape), outputs, 0.0)
    outputs = _f.swapped(outputs, 0, 1)
    last = _f.at(outputs, 0, -1)
    return last, outputs if return_all_outputs else _f.expanded(last, 0), _tree.pack_sequence_as(states, new_states)


def _scanned(step, inputs, states, mask, go_backwards, return_all_outputs):
    def body(states, item):
        output, new_states = step(states, *(item if mask is not None else (item, None)))
        return new_states, output

    states, outputs = _scan(body, states, inputs if mask is None else (inputs, mask), reverse=go_backwards)
    if go_backwards:
        outputs = _tree.map_structure(lambda x: _call("reverse", x, axes=[0]), outputs)
    last = _tree.map_structure(lambda x: _f.at(x, 0, -1), outputs)
    if not return_all_outputs:
        outputs = _tree.map_structure(lambda x: _f.expanded(x, 0), last)
    return last, outputs, states


def _unrolled(step, inputs, states, mask, go_backwards, return_all_outputs):
    time = _tree.flatten(inputs)[0].shape[0]
    if not time:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    outputs = []
    for t in reversed(range(time)) if go_backwards else range(time):
        item = _tree.map_structure(lambda x: _f.at(x, 0, t), inputs)
        output, states = step(states, item, None if mask is None else _f.at(mask, 0, t))
        outputs.append(output)
    last = outputs[-1]
    kept = outputs if return_all_outputs else outputs[-1:]
    stacked = _tree.map_structure(lambda *parts: _f.joined([_f.expanded(p, 0) for p in parts], 0), *kept)
    return last, stacked, states


def cudnn_ok(*args, **kwargs):
    return False


def _is_native(activation, recurrent_activation, unroll, mask):
    """Whether the engine's ops, which have tanh and sigmoid and no mask, are what the layer wants."""
    from keras.src import activations, ops

    return activation in (activations.tanh, ops.tanh) and recurrent_activation in (activations.sigmoid, ops.sigmoid) \
        and not unroll and mask is None


def _require(native):
    if not native:
        raise NotImplementedError  # the layer then calls rnn()


def _operands(inputs, *others):
    """All in the dtype of the inputs."""
    inputs = _f.to_float(_tensor(inputs))
    return inputs, *(_tensor(t, inputs.dtype) for t in others)


def _sequence(y, last, return_sequences, go_backwards):
    """Outputs as rnn() has them: in the order of the steps."""
    if not return_sequences:
        return _f.expanded(last, 1)
    return _call("reverse", y, axes=[1]) if go_backwards else y


def _lstm(inputs, h, c, kernel, recurrent_kernel, bias, reverse):
    units = recurrent_kernel.shape[0]
    bias = _f.filled([4 * units], _tensor(inputs).dtype) if bias is None else bias
    return _call("lstm", *_operands(inputs, h, c, kernel, recurrent_kernel, bias), reverse=reverse)[:3]


def lstm(inputs, initial_state_h, initial_state_c, mask, kernel, recurrent_kernel, bias, activation, recurrent_activation,
         return_sequences=False, go_backwards=False, unroll=False):
    _require(_is_native(activation, recurrent_activation, unroll, mask))
    y, h, c = _lstm(inputs, initial_state_h, initial_state_c, kernel, recurrent_kernel, bias, go_backwards)
    return h, _sequence(y, h, return_sequences, go_backwards), [h, c]


def bidirectional_lstm(inputs, fwd_initial_state_h, fwd_initial_state_c, bwd_initial_state_h, bwd_initial_state_c, mask, fwd_kernel,
                       fwd_recurrent_kernel, fwd_bias, bwd_kernel, bwd_recurrent_kernel, bwd_bias, activation, recurrent_activation,
                       return_sequences=False, unroll=False):
    _require(_is_native(activation, recurrent_activation, unroll, mask))
    forward = _lstm(inputs, fwd_initial_state_h, fwd_initial_state_c, fwd_kernel, fwd_recurrent_kernel, fwd_bias, False)
    backward = _lstm(inputs, bwd_initial_state_h, bwd_initial_state_c, bwd_kernel, bwd_recurrent_kernel, bwd_bias, True)
    # Both in the order of time.
    return tuple((h, y if return_sequences else _f.expanded(h, 1), [h, c]) for y, h, c in (forward, backward))


def _gru(inputs, h, kernel, recurrent_kernel, bias, reverse):
    units = recurrent_kernel.shape[0]
    bias = _f.filled([2, 3 * units], _tensor(inputs).dtype) if bias is None else bias
    return _call("gru", *_operands(inputs, h, kernel, recurrent_kernel, bias), reverse=reverse)[:2]


def gru(inputs, initial_state, mask, kernel, recurrent_kernel, bias, activation, recurrent_activation, return_sequences=False,
        go_backwards=False, unroll=False, reset_after=True):
    _require(reset_after and _is_native(activation, recurrent_activation, unroll, mask))
    y, h = _gru(inputs, initial_state, kernel, recurrent_kernel, bias, go_backwards)
    return h, _sequence(y, h, return_sequences, go_backwards), [h]


def bidirectional_gru(inputs, fwd_initial_state, bwd_initial_state, mask, fwd_kernel, fwd_recurrent_kernel, fwd_bias, bwd_kernel,
                      bwd_recurrent_kernel, bwd_bias, activation, recurrent_activation, return_sequences=False, unroll=False,
                      reset_after=True):
    _require(reset_after and _is_native(activation, recurrent_activation, unroll, mask))
    forward = _gru(inputs, fwd_initial_state, fwd_kernel, fwd_recurrent_kernel, fwd_bias, False)
    backward = _gru(inputs, bwd_initial_state, bwd_kernel, bwd_recurrent_kernel, bwd_bias, True)
    return tuple((h, y if return_sequences else _f.expanded(h, 1), [h]) for y, h in (forward, backward))
