"""Sums of products: matmul, einsum and what is made of them."""
import numpy as np
from keras.src.backend import config

from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops._base import (
    FLOATS, axes_in, broadcasted, cut, flat, iota, kind, like, meet, met, operand, permuted, reshaped,
)
from keras_plimsoll.src.ops._creation import diagonal
from keras_plimsoll.src.ops._reduce import mean, prod, sum as _sum
from keras_plimsoll.src.ops._shape import moveaxis, squeeze, stack
from keras_plimsoll.src.ops._unary import conjugate
from keras_plimsoll.src.ops.core import cast, convert_to_tensor


def _product(a, b, a_contract, b_contract, a_batch=(), b_batch=()):
    """dot_general of one dtype; bools are added up as NumPy does it: is there any?"""
    result = a.dtype
    if result == "bool":
        a, b = cast(a, "int32"), cast(b, "int32")
    y = call(
        "dot_general", a, b, a_contract=list(a_contract), b_contract=list(b_contract), a_batch=list(a_batch), b_batch=list(b_batch)
    )
    return cast(y, result)


def _operands(*xs):
    """In the dtype of the result, which for int8 is int32."""
    xs = [convert_to_tensor(x) for x in xs]
    dtype = "int32" if all(x.dtype == "int8" for x in xs) else met(*[x.dtype for x in xs])
    return [cast(x, dtype) for x in xs]


def matmul(x1, x2):
    x1, x2 = _operands(x1, x2)
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError(f"matmul expects operands with at least one axis. Received: shapes {x1.shape} and {x2.shape}")
    if x1.ndim == 1 and x2.ndim == 1:
        return _product(x1, x2, [0], [0])
    if x1.ndim == 1:
        return squeeze(_matmul(reshaped(x1, [1, *x1.shape]), x2), -2)
    if x2.ndim == 1:
        return _product(x1, x2, [x1.ndim - 1], [0])
    return _matmul(x1, x2)


def _matmul(a, b):
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"matmul expects the last axis of x1 to be as long as the one before the last of x2, got {a.shape} and {b.shape}")
    if b.ndim == 2:
        return _product(a, b, [a.ndim - 1], [0])
    lead = list(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    a, b = broadcasted(a, [*lead, *a.shape[-2:]]), broadcasted(b, [*lead, *b.shape[-2:]])
    rank, batch = len(lead), range(len(lead))
    return _product(a, b, [rank + 1], [rank], batch, batch)


def dot(x1, x2):
    x1, x2 = meet(convert_to_tensor(x1), convert_to_tensor(x2))
    if x1.ndim == 0 or x2.ndim == 0:
        return call("multiply", x1, x2)
    return _product(x1, x2, [x1.ndim - 1], [max(x2.ndim - 2, 0)])


def inner(x1, x2):
    x1, x2 = meet(convert_to_tensor(x1), convert_to_tensor(x2))
    if x1.ndim == 0 or x2.ndim == 0:
        return call("multiply", x1, x2)
    return _product(x1, x2, [x1.ndim - 1], [x2.ndim - 1])


def outer(x1, x2):
    x1, x2 = (flat(x) for x in meet(convert_to_tensor(x1), convert_to_tensor(x2)))
    return call("multiply", reshaped(x1, [x1.size, 1]), x2)


def vdot(x1, x2):
    x1, x2 = (flat(x) for x in meet(convert_to_tensor(x1), convert_to_tensor(x2)))
    return _product(conjugate(x1), x2, [0], [0])


def tensordot(x1, x2, axes=2):
    x1, x2 = meet(convert_to_tensor(x1), convert_to_tensor(x2))
    if isinstance(axes, (int, np.integer)):
        return _product(x1, x2, range(x1.ndim - axes, x1.ndim), range(axes))
    return _product(x1, x2, axes_in(axes[0], x1.ndim), axes_in(axes[1], x2.ndim))


def kron(x1, x2):
    x1, x2 = meet(convert_to_tensor(x1), convert_to_tensor(x2))
    rank = max(x1.ndim, x2.ndim)
    a, b = ([1] * (rank - x.ndim) + list(x.shape) for x in (x1, x2))
    left = reshaped(x1, [n for size in a for n in (size, 1)])
    right = reshaped(x2, [n for size in b for n in (1, size)])
    return reshaped(call("multiply", left, right), [p * q for p, q in zip(a, b)])


def cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None):
    x1, x2 = meet(convert_to_tensor(x1), convert_to_tensor(x2))
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = moveaxis(x1, axisa, -1), moveaxis(x2, axisb, -1)
    if x1.shape[-1] not in (2, 3) or x2.shape[-1] not in (2, 3):
        raise ValueError(f"Expected vectors of 2 or 3 elements. Received: shapes {x1.shape} and {x2.shape}")
    a, b = _components(x1), _components(x2)

    def minor(i, j):
        return call("subtract", call("multiply", a[i], b[j]), call("multiply", a[j], b[i]))

    if x1.shape[-1] == x2.shape[-1] == 2:
        return minor(0, 1)
    return moveaxis(stack([minor(1, 2), minor(2, 0), minor(0, 1)], -1), -1, axisc)


def _components(x):
    parts = [reshaped(cut(x, x.ndim - 1, i, i + 1), x.shape[:-1]) for i in range(x.shape[-1])]
    return parts if len(parts) == 3 else [*parts, call("multiply", parts[0], like(parts[0], 0))]


def correlate(x1, x2, mode="valid"):
    dtype = met(kind(operand(x1)), kind(operand(x2)))
    dtype = dtype if dtype in ("bfloat16", "float16", "float64") else "float32"
    a, v = convert_to_tensor(x1, dtype), convert_to_tensor(x2, dtype)
    if v.size > a.size:
        return call("reverse", _correlate(v, a, mode), axes=[0])
    return _correlate(a, v, mode)


def _correlate(a, v, mode):
    """One convolution, as nets do it; v is not the longer one."""
    size = v.size
    pads = {"valid": (0, 0), "same": (size // 2, size - 1 - size // 2), "full": (size - 1, size - 1)}
    if mode not in pads:
        raise ValueError(f"Expected `mode` to be one of {tuple(pads)}. Received: mode={mode}")
    low, high = pads[mode]
    ones = {"strides": [1], "lhs_dilation": [1], "rhs_dilation": [1], "groups": 1}
    y = call("conv", reshaped(a, [1, a.size, 1]), reshaped(v, [size, 1, 1]), pad_low=[low], pad_high=[high], **ones)
    return flat(y)


def corrcoef(x):
    x = convert_to_tensor(x)
    x = x if x.dtype in FLOATS else cast(x, config.floatx())
    rows = reshaped(x, [1, x.size]) if x.ndim == 1 else x
    rows = call("subtract", rows, mean(rows, 1, True))
    c = _product(rows, rows, [1], [1])
    norm = call("sqrt", diagonal(c))
    c = call("divide", call("divide", c, reshaped(norm, [norm.size, 1])), norm)
    c = call("clip", c, low=-1.0, high=1.0)
    return reshaped(c, []) if x.ndim == 1 else c


def slogdet(x):
    """From the factors of LU: each exchange of rows changes the sign."""
    x = convert_to_tensor(x)
    x = x if x.dtype in FLOATS else cast(x, config.floatx())
    factors, pivots, _ = call("lu", x)
    ends = diagonal(factors, 0, -2, -1)
    moved = cast(call("not_equal", pivots, iota(pivots.shape[-1])), x.dtype)
    exchanges = call("subtract", like(x, 1), call("multiply", moved, like(x, 2)))
    sign = call("multiply", prod(call("sign", ends), -1), prod(exchanges, -1))
    return sign, _sum(call("log", call("absolute", ends)), -1)


# ---- einsum


def einsum(subscripts, *operands, **kwargs):
    xs = _operands(*operands)
    terms, output = _parse(subscripts, [x.ndim for x in xs])
    parts = [_without_repeats(x, term) for x, term in zip(xs, terms)]
    for places in _order(parts, output):
        taken = [parts[i] for i in places]
        parts = [part for i, part in enumerate(parts) if i not in places]
        if len(taken) == 2 and not parts:
            taken = _in_order_of(output, taken)
        parts.append(_contract_all(taken, set(output).union(*[term for _, term in parts])))
    x, term = _summed(*parts[0], set(output))
    return permuted(x, [term.index(label) for label in output])


def _contract_all(parts, keep):
    """One after the other; labels that are not in `keep` go as soon as nobody needs them."""
    first, *others = parts
    for i, other in enumerate(others):
        first = _contract(*first, *other, keep.union(*[term for _, term in others[i + 1 :]]))
    return first


def _in_order_of(output, pair):
    """First the operand whose own axes come first in the result: less is left to be transposed."""
    (_, a), (_, b) = pair
    own = [label for label in output if (label in a) != (label in b)]
    return pair[::-1] if own and own[0] in b else pair


def _parse(subscripts, ranks):
    """Labels of each operand and of the result; axes behind '...' are the labels -1, -2, ... from the right."""
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    inputs = inputs.split(",")
    if len(inputs) != len(ranks):
        raise ValueError(f"einsum: expected {len(inputs)} operands for '{subscripts}'. Received: {len(ranks)}")
    terms, most = [], 0
    for term, rank in zip(inputs, ranks):
        hidden = rank - len(term.replace("...", ""))
        if hidden < 0 or (hidden and "..." not in term):
            raise ValueError(f"einsum: '{term}' in '{subscripts}' does not fit an operand with {rank} axes.")
        most = max(most, hidden)
        terms.append(_labels(term, hidden))
    if not arrow:
        seen = "".join(inputs).replace("...", "")
        output = "..." * (most > 0) + "".join(sorted(c for c in set(seen) if seen.count(c) == 1))
    return terms, _labels(output, most)


def _labels(term, hidden):
    before, dots, after = term.partition("...")
    return [*before, *(range(-hidden, 0) if dots else ()), *after]


def _without_repeats(x, term):
    """Of axes with one label the diagonal."""
    term = list(term)
    for label in sorted(set(term), key=str):
        while term.count(label) > 1:
            a = term.index(label)
            b = term.index(label, a + 1)
            x = diagonal(x, 0, a, b)
            del term[b], term[a]
            term.append(label)
    return x, term


def _order(parts, output):
    """Which operands to multiply one after the other: NumPy's greedy choice, from the shapes alone."""
    if len(parts) <= 2:
        return [range(len(parts))]
    number = {label: i for i, label in enumerate(dict.fromkeys([label for _, term in parts for label in term]))}
    sizes = {label: max(x.shape[term.index(label)] for x, term in parts if label in term) for label in number}
    arguments = []
    for _, term in parts:
        arguments += [np.broadcast_to(np.float32(0), [sizes[label] for label in term]), [number[label] for label in term]]
    return np.einsum_path(*arguments, [number[label] for label in output], optimize="greedy")[0][1:]


def _summed(x, term, keep):
    """Without the axes that nobody else wants."""
    gone = [i for i, label in enumerate(term) if label not in keep]
    if not gone:
        return x, term
    wide = cast(x, "int32") if x.dtype == "bool" else x
    return cast(call("reduce_sum", wide, axes=gone), x.dtype), [label for label in term if label in keep]


def _contract(a, a_term, b, b_term, keep):
    a, a_term = _summed(a, a_term, keep.union(b_term))
    b, b_term = _summed(b, b_term, keep.union(a_term))
    a, a_term = _without_ones(a, a_term, b, b_term)
    b, b_term = _without_ones(b, b_term, a, a_term)
    both = [label for label in a_term if label in b_term]
    batch, sums = [label for label in both if label in keep], [label for label in both if label not in keep]
    y = _product(
        a, b, [a_term.index(s) for s in sums], [b_term.index(s) for s in sums],
        [a_term.index(s) for s in batch], [b_term.index(s) for s in batch],
    )
    free = [label for term in (a_term, b_term) for label in term if label not in both]
    return y, batch + free


def _without_ones(a, a_term, b, b_term):
    """An axis of size 1 that the other operand has longer is dropped: it is broadcast."""
    alone = [i for i, s in enumerate(a_term) if a.shape[i] == 1 and s in b_term and b.shape[b_term.index(s)] != 1]
    if not alone:
        return a, a_term
    return squeeze(a, alone), [s for i, s in enumerate(a_term) if i not in alone]
