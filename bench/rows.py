"""Which peers a row has, and why one is missing."""
from peer_models import DEVICE_MODELS, Row

PACKAGES = {"torch": ["torch"], "torch-compile": ["torch"], "torch-cpp": ["torch"], "torch-graph": ["torch"], "jax": ["jax"],
            "tensorflow": ["tensorflow", "keras"], "keras-tensorflow": ["keras", "tensorflow"], "keras-jax": ["keras", "jax"],
            "keras-torch": ["keras", "torch"], "numpy": ["numpy"]}
# The same Keras script on every backend, ours among them, with PyTorch's own loop beside.
KERAS_ROWS = {"keras_" + model: "ms" for model in (
    "mlp100_b32", "mlp100_b32_predict", "mnist_b128", "cnn64bn_b32", "cnn100_b512", "resnet50_b8", "lstm_b32", "transformer_b16")} \
    | {"keras_resident_cnn100_b512": "MiB", "keras_start_mlp100_b32": "s", "keras_import": "s", "keras_resident_import": "MiB",
       "keras_eager_add8": "us"}
KERAS = ["keras-tensorflow", "keras-jax", "keras-torch"]
# Single steps against bare loops, fit() against fit() and a loop that does the same.
STEP_PEERS = ["torch", "torch-compile", "jax", "tensorflow"]
FIT_PEERS = [*KERAS, "torch", "torch-compile"]
OP_PEERS = {"matmul_1024": ["torch", "torch-compile", "jax", "numpy"], "eager_add8": ["torch", "torch-cpp"], "compile_resnet50": []}
# Rows about whole processes: from its start to the end of the first step of fit(), and the most memory fit() has taken.
START_ROWS = ["start_mnist_b128", "keras_start_mlp100_b32", "keras_import"]
RESIDENT_ROWS = ["resident_" + m for m in ("mlp100_b32", "mnist_b128", "cnn64bn_b32", "resnet50_b8", "lstm_b32", "transformer_b16")]
RESIDENT_ROWS += ["keras_resident_cnn100_b512", "keras_resident_import"]
# What --busy measures where no row is named.
BUSY_ROWS = ["mlp100_b32", "mnist_b128", "cnn64bn_b32", "resnet50_b8", "lstm_b32", "transformer_b16"]


def usual(rows, machine):
    """What is run where no row is named: of half precision the training steps of larger models, where the processor has it."""
    bf16 = ["mnist_b128_bf16", "cnn64bn_b32_bf16", "resnet50_b8_bf16", "lstm_b32_bf16", "transformer_b16_bf16", "matmul_1024_bf16"]
    return [row for row in rows if ("bf16" not in row or (row in bf16 and "bf16" in machine)) and Row(row).model not in DEVICE_MODELS]


def usual_on_device():
    """Training steps in TF32 and bfloat16, and how long one prediction takes."""
    models = ["mlp10_b32", "cnn64bn_b32", "cnn100_b512", "lstm_b32", "lstm512_b64", "transformer_b16", "bert_b32", "resnet50_b256"]
    return [row for model in models for row in (model, model + "_bf16")] + ["mlp10_b1_predict", "resnet50_b1_predict"]


def contest(name):
    """What a contender runs for the row; of resident_ rows the size is looked at from outside."""
    return name.replace("resident_", "") if name in KERAS_ROWS else name.replace("resident_", "fit_")


def all_peers(name, device="cpu"):
    if device != "cpu":  # torch-graph: the compiled step captured by hand in one CUDA graph, its strongest form
        return ["torch", "torch-graph", "jax"]
    row = Row(contest(name))
    if name in KERAS_ROWS and not row.model:
        peers = KERAS
    elif not row.model:
        peers = OP_PEERS.get(row.op, ["torch", "torch-compile", "jax"])
    elif row.start or "resident_" in name:
        peers = [p for p in FIT_PEERS if p != "torch-compile"]  # which starts later than torch and holds more
    else:
        peers = FIT_PEERS if row.fit else STEP_PEERS
    if row.bf16:  # torch under autocast, and with parameters of bfloat16; NumPy has no product for it
        peers = [p for p in peers if p != "numpy"]
        peers = [form for p in peers for form in ([p, p + "-bf16"] if p.startswith("torch") and row.model else [p])]
    return peers


def peers_of(name, versions, known=None, device="cpu"):
    """(peers to start, {peer: why it is left out}). `known` is an earlier result of the row: then its two best only."""
    left_out = {}
    for peer in all_peers(name, device):
        missing = [p for p in PACKAGES[peer.removesuffix("-bf16")] if p not in versions]
        if missing:
            left_out[peer] = f"{' and '.join(missing)} not installed"
    peers = [p for p in all_peers(name, device) if p not in left_out]
    if known and known["peers"]:
        best = sorted(known["peers"], key=lambda p: known["peers"][p]["median"])[:2]
        left_out |= {p: "--fast: not one of the two fastest before" for p in peers if p not in best}
        peers = [p for p in peers if p in best]
    return peers, left_out
