"""Graphs in NumPy: a node is its op's oracle, applied to the values before it; and the ops that carry a graph.

Values of half precision are rounded to their type, as a graph stores them; floats above are computed in float64.
"""
import numpy as np

from inputs import DTYPES, is_float

TABLE = {}  # name: oracle, of every op; op_oracles.py fills it


def rounded(value, dtype):
    """The value as its type holds it; float32 stays in float64, where its own error is the engine's business."""
    if is_float(dtype):
        return np.asarray(value).astype(dtype if dtype.itemsize == 2 else np.float64)
    return np.asarray(value).astype(dtype)


def evaluate_graph(graph, inputs, variables=()):
    """The outputs of a graph as tests/support/graph_json.h writes it, then the values of its updates."""
    values = dict(zip(graph["inputs"], inputs, strict=True)) | dict(zip(graph["variables"], variables, strict=True))
    for node in graph["nodes"]:
        dtypes = [DTYPES[t["dtype"]] for t in node["types"]]
        with np.errstate(all="ignore"):
            made = TABLE[node["op"]]([values[i] for i in node["in"]], node["attrs"], dtypes)
        made = made if isinstance(made, (list, tuple)) else [made]
        for at, value, dtype, type_ in zip(node["out"], made, dtypes, node["types"], strict=True):
            if list(np.shape(value)) != type_["shape"]:
                raise ValueError(f"{node['op']}: expected shape {type_['shape']}, the oracle gives {np.shape(value)}")
            values[at] = rounded(value, dtype)
    return [values[i] for i in graph["outputs"]] + [values[next_] for _, next_ in graph["updates"]]


def cond(inputs, attrs, out):
    flag, *operands = inputs
    return evaluate_graph(attrs["if_true" if flag else "if_false"], operands)


def while_loop(inputs, attrs, out):
    state, captured = list(inputs[:len(out)]), list(inputs[len(out):])
    while evaluate_graph(attrs["test"], state + captured)[0]:
        state = evaluate_graph(attrs["body"], state + captured)
    return state


def scan(inputs, attrs, out):
    n, m = attrs["carries"], attrs["xs"]
    carry, xs, captured = list(inputs[:n]), inputs[n:n + m], list(inputs[n + m:])
    ys, saved = [None] * attrs["length"], [None] * attrs["length"]
    for t in range(attrs["length"])[::-1 if attrs["reverse"] else 1]:
        saved[t] = carry
        made = evaluate_graph(attrs["body"], carry + [x[t] for x in xs] + captured)
        carry, ys[t] = made[:n], made[n:]
    stacked = [np.stack(rows) for rows in zip(*ys)] + ([np.stack(rows) for rows in zip(*saved)] if attrs["save"] else [])
    return carry + stacked


def constant(inputs, attrs, out):
    value = attrs["value"]
    return np.array(value["values"]).astype(DTYPES[value["dtype"]]).reshape(value["shape"])


ORACLES = {
    "remat": lambda inputs, attrs, out: evaluate_graph(attrs["body"], inputs),
    "custom_vjp": lambda inputs, attrs, out: inputs[:attrs["ys"]],
    "cond": cond,
    "while_loop": while_loop,
    "scan": scan,
    "fused": lambda inputs, attrs, out: evaluate_graph(attrs["body"], inputs),
    "constant": constant,
}
