"""dot_product_attention by the engine's op, which never has the matrix of all scores in memory."""
import math

from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops.core import convert_to_tensor

LARGE = {"float16": 65504.0, "bfloat16": 3.38953e38, "float32": 3.4028e38, "float64": 1.79e308}


def _four_axes(t, heads):
    """A mask or bias as (batch, heads, queries, keys), or what broadcasts to that."""
    while t.ndim < 4:
        t = f.expanded(t, 2 if t.ndim == 3 and t.shape[1] == heads else 1 if t.ndim == 3 else 0)
    return t


def _additive(bias, mask, heads, dtype):
    """Bias and mask as one bias; None if there is neither. A row without any key becomes an average, as in JAX."""
    if bias is not None:
        bias = _four_axes(convert_to_tensor(bias, dtype), heads)
    if mask is None:
        return bias
    mask = _four_axes(convert_to_tensor(mask, "bool"), heads)
    lowest = f.number(-0.7 * LARGE[dtype], dtype)
    return f.where(mask, f.number(0.0, dtype) if bias is None else bias, lowest)


def _without_blind(query, mask, heads):
    """Queries that see no key become zero: their scores are the mask's all the same, and no gradient goes through them, as on JAX and TensorFlow."""
    sees = f.reduce("or", _four_axes(convert_to_tensor(mask, "bool"), heads), -1, keepdims=True)
    return f.where(f.swapped(sees, 1, 2), query, 0.0)


def _with_all_heads(t, heads):
    """Keys or values of grouped queries: each of their heads serves several."""
    batch, time, own, width = t.shape
    if own == heads:
        return t
    if own == 0 or heads % own:
        raise ValueError(f"The number of query heads ({heads}) must be a multiple of the number of key and value heads ({own}).")
    spread = f.broadcasted(f.expanded(t, 3), [batch, time, own, heads // own, width])
    return f.reshaped(spread, [batch, time, heads, width])


def _capped(query, key, value, bias, scale, is_causal, cap):
    scores = f.multiply(call("dot_general", query, key, a_contract=[3], b_contract=[3], a_batch=[0, 2], b_batch=[0, 2]), scale)
    scores = f.divide(scores, f.add(f.divide(call("absolute", scores), cap), 1.0))
    if bias is not None:
        scores = f.add(scores, bias)
    if is_causal:
        square = scores.shape[2:]
        sees = f.greater_equal(f.positions(square, 0), f.positions(square, 1))
        scores = f.where(sees, scores, -0.7 * LARGE[scores.dtype])
    weights = call("softmax", scores, axis=-1)
    return f.swapped(call("dot_general", weights, value, a_contract=[3], b_contract=[1], a_batch=[0, 1], b_batch=[0, 2]), 1, 2)


def dot_product_attention(query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None,
                          attn_logits_soft_cap=None):
    query, key, value = (convert_to_tensor(t) for t in (query, key, value))
    if query.ndim != 4 or key.ndim != 4 or value.ndim != 4:
        raise ValueError(
            "`dot_product_attention` only supports 4D inputs. "
            f"Received: query.shape={query.shape}, key.shape={key.shape}, value.shape={value.shape}."
        )
    query, key, value = (f.to_float(t) for t in f.meeting(query, key, value))
    heads = query.shape[2]
    key, value = _with_all_heads(key, heads), _with_all_heads(value, heads)
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    bias = _additive(bias, mask, heads, query.dtype)
    if attn_logits_soft_cap is not None:
        return _capped(query, key, value, bias, scale, is_causal, float(attn_logits_soft_cap))
    if mask is not None:
        query = _without_blind(query, mask, heads)
    operands = [query, key, value] if bias is None else [query, key, value, bias]
    return call("attention", *operands, scale=scale, causal=bool(is_causal))[0]
