"""Encodings of labels, and cross-entropies. Those of logits over the last axis are ops of the engine. A softmax or sigmoid of Keras
notes its logits on its result (`_keras_logits`), and a loss of that result takes them, as on TensorFlow: nothing is clipped then."""
import math

from keras.src.backend.config import epsilon, floatx

from keras_plimsoll.src import ranges
from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops._activations import log_softmax
from keras_plimsoll.src.ops.core import convert_to_tensor


def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    if sparse:
        raise ValueError("Unsupported value `sparse=True` with the plimsoll backend")
    x = f.cast(convert_to_tensor(x), "int32")
    rank = x.ndim + 1
    axis = f.axis_in(axis, rank)
    classes = f.reshaped(f.positions([num_classes], 0), [num_classes if a == axis else 1 for a in range(rank)])
    return f.cast(f.equal(f.expanded(x, axis), classes), dtype or floatx())


def multi_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    x = convert_to_tensor(x)
    encoded = one_hot(x, num_classes, axis=axis, dtype=dtype, sparse=sparse)
    return f.reduce("max", encoded, 1 if x.ndim > 1 else 0)


def _logits_of(output, from_logits):
    """The logits that a loss of `output` can be made of; None if all there is are probabilities."""
    if from_logits:
        return f.to_float(output)
    logits = getattr(output, "_keras_logits", None)
    return logits if logits is not None and logits.shape == output.shape and logits.dtype == output.dtype else None


def _log_of_probabilities(output, axis):
    output = f.to_float(output)
    output = f.divide(output, f.reduce("sum", output, axis, keepdims=True))
    return call("log", f.clip(output, epsilon(), 1.0 - epsilon()))


def _same_shape(target, output):
    if target.shape != output.shape:
        raise ValueError(
            "Arguments `target` and `output` must have the same shape. "
            f"Received: target.shape={target.shape}, output.shape={output.shape}"
        )


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    _same_shape(target, output)
    if target.ndim < 1:
        raise ValueError(
            "Arguments `target` and `output` must be at least rank 1. "
            f"Received: target.shape={target.shape}, output.shape={output.shape}"
        )
    logits = _logits_of(output, from_logits)
    last = f.axes_in(axis, output.ndim) == [output.ndim - 1]
    if logits is not None and last:
        logits, target = f.meeting(logits, target)
        return call("softmax_cross_entropy", logits, target)[0]
    log_prob = log_softmax(logits, axis) if logits is not None else _log_of_probabilities(output, axis)
    target, log_prob = f.meeting(target, log_prob)
    return call("negative", f.reduce("sum", f.multiply(target, log_prob), axis))


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    target, output = convert_to_tensor(target, dtype="int32"), convert_to_tensor(output)
    if output.ndim < 1:
        raise ValueError(f"Argument `output` must be at least rank 1. Received: output.shape={output.shape}")
    if target.ndim == output.ndim and target.shape[-1] == 1:
        target = f.reshaped(target, target.shape[:-1])
    axis = f.axis_in(axis, output.ndim)
    if target.shape != output.shape[:axis] + output.shape[axis + 1 :]:
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the last dimension: "
            f"target.shape={target.shape}, output.shape={output.shape}"
        )
    if target.is_symbolic:
        ranges.note(target, output.shape[axis], "sparse_categorical_crossentropy", ranges.Labels)
    logits = _logits_of(output, from_logits)
    if logits is not None and axis == output.ndim - 1:
        return call("sparse_softmax_cross_entropy", logits, target)[0]
    log_prob = log_softmax(logits, axis) if logits is not None else _log_of_probabilities(output, axis)
    picked = one_hot(target, output.shape[axis], axis=axis, dtype="bool")
    return call("negative", f.reduce("sum", f.where(picked, log_prob, 0.0), axis))


def binary_crossentropy(target, output, from_logits=False):
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    _same_shape(target, output)
    logits = _logits_of(output, from_logits)
    if logits is not None:
        return _of_logits(*f.meeting(logits, f.to_float(target)))
    target, output = f.meeting(f.to_float(target), f.to_float(output))
    output = f.clip(output, epsilon(), 1.0 - epsilon())
    log_other = call("log", f.subtract(1.0, output))
    sure = f.add(f.multiply(target, call("log", output)), f.multiply(f.subtract(1.0, target), log_other))
    return call("negative", sure)


def _of_logits(logits, target):
    """max(x, 0) - x t + log(1 + exp(-|x|)), with where(): at 0 the gradients of relu and absolute do not add up to the right one."""
    positive = f.greater_equal(logits, 0.0)
    minus_abs = f.where(positive, call("negative", logits), logits)
    linear = f.subtract(f.where(positive, logits, 0.0), f.multiply(logits, target))
    return f.add(linear, call("log1p", call("exp", minus_abs)))


def psnr(x1, x2, max_val):
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    if x1.shape != x2.shape:
        raise ValueError(f"Input shapes {x1.shape} and {x2.shape} must match for PSNR calculation. ")
    x1, x2 = (f.to_float(x) for x in f.meeting(x1, x2))
    error = f.mean(call("square", f.subtract(x1, x2)))
    decibel = 10.0 / math.log(10.0)
    most = call("log", convert_to_tensor(max_val, dtype=x2.dtype))
    return f.subtract(f.multiply(most, 2.0 * decibel), f.multiply(call("log", error), decibel))
