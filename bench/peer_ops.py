"""Rows of single ops, for torch, torch-compile, torch-cpp, jax and numpy.

Results go into memory that is there before the round, as ours do: `out=` and in-place ops in torch, a copy into it that the compiler
fuses in torch-compile, a donated buffer of the same size in jax. eager_add8 is about the call itself: everyone makes a new tensor.
"""
import functools


def torch_inputs(row):
    import torch
    torch.manual_seed(0)
    if row.op == "matmul_1024":
        dtype = torch.bfloat16 if row.bf16 else torch.float32
        return [torch.rand(1024, 1024, dtype=dtype) for _ in range(2)], torch.empty(1024, 1024, dtype=dtype)
    if row.op == "eltwise_chain8_16m":
        return [torch.rand(1 << 24) for _ in range(2)], torch.empty(1 << 24)
    if row.op == "softmax_xent_4096x1000":
        return [torch.randn(4096, 1000), torch.randint(0, 1000, (4096,))], torch.empty(4096, 1000)
    if row.op == "layernorm_4096x768":
        return [torch.randn(4096, 768), torch.rand(768), torch.rand(768)], torch.empty(4096, 768)
    raise KeyError(row.name)


def cross_entropy_and_gradient(logits, labels):
    import torch
    p = torch.log_softmax(logits, 1)
    loss = -p.gather(1, labels[:, None]).mean()
    one_hot = torch.nn.functional.one_hot(labels, logits.shape[1])
    return loss, (p.exp() - one_hot) / len(labels)


def torch_eager(row):
    """Each op in its fastest eager form."""
    import torch
    import torch.nn.functional as F
    inputs, out = torch_inputs(row)
    if row.op == "matmul_1024":
        return lambda: torch.matmul(*inputs, out=out)
    if row.op == "eltwise_chain8_16m":
        x, y = inputs
        return lambda: torch.mul(x, y, out=out).add_(x).mul_(0.5).sub_(y).abs_().neg_().exp_().tanh_()
    if row.op == "layernorm_4096x768":
        mean, deviation = torch.empty(4096, 1), torch.empty(4096, 1)
        return lambda: torch.ops.aten.native_layer_norm.out(inputs[0], [768], inputs[1], inputs[2], 1e-3, out0=out, out1=mean,
                                                            out2=deviation)
    logits, labels = inputs[0].requires_grad_(), inputs[1]
    return lambda: torch.autograd.grad(F.cross_entropy(logits, labels), logits)


def torch_compiled(row):
    import torch
    import torch.nn.functional as F
    inputs, out = torch_inputs(row)
    # The matrix product is a library's in both forms; the loss is given with its gradient written out, which inductor fuses best.
    f = {"matmul_1024": torch.matmul,
         "eltwise_chain8_16m": lambda x, y: torch.tanh(torch.exp(-torch.abs((x * y + x) * 0.5 - y))),
         "layernorm_4096x768": lambda x, g, b: F.layer_norm(x, (768,), g, b, 1e-3)}.get(row.op)

    @torch.compile
    def call(inputs, out):
        if f is None:
            loss, gradient = cross_entropy_and_gradient(*inputs)
            out.copy_(gradient)
            return loss
        out.copy_(f(*inputs))

    return lambda: call(inputs, out)


def jax_op(row):
    import jax
    import jax.numpy as jnp
    inputs, out = torch_free_inputs(row)

    def cross_entropy(logits, labels):
        p = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(p, labels[:, None], 1).mean()

    def layer_norm(x, gamma, beta):
        mean = x.mean(1, keepdims=True)
        variance = jnp.square(x - mean).mean(1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-3) * gamma + beta

    f = {"matmul_1024": jnp.matmul, "eltwise_chain8_16m": lambda x, y: jnp.tanh(jnp.exp(-jnp.abs((x * y + x) * 0.5 - y))),
         "layernorm_4096x768": layer_norm, "softmax_xent_4096x1000": jax.value_and_grad(cross_entropy)}[row.op]
    jitted = jax.jit(lambda out, *inputs: f(*inputs), donate_argnums=0, keep_unused=True)
    held = [jnp.asarray(out)]
    inputs = [jnp.asarray(i) for i in inputs]

    def call():
        result = jitted(held[0], *inputs)
        held[0] = result[1] if isinstance(result, tuple) else result
        held[0].block_until_ready()

    return call


def torch_free_inputs(row):
    import ml_dtypes
    import numpy as np
    rng = np.random.default_rng(0)
    floats = lambda *shape: rng.random(shape, dtype="float32")
    inputs, out = {"matmul_1024": lambda: ([floats(1024, 1024), floats(1024, 1024)], (1024, 1024)),
                   "eltwise_chain8_16m": lambda: ([floats(1 << 24), floats(1 << 24)], (1 << 24,)),
                   "layernorm_4096x768": lambda: ([floats(4096, 768), floats(768), floats(768)], (4096, 768)),
                   "softmax_xent_4096x1000": lambda: (
                       [floats(4096, 1000), rng.integers(0, 1000, 4096).astype("int32")], (4096, 1000))}[row.op]()
    dtype = ml_dtypes.bfloat16 if row.bf16 else np.float32
    return [i if i.dtype == np.int32 else i.astype(dtype) for i in inputs], np.empty(out, dtype)


def numpy_op(row):
    import numpy as np
    (a, b), out = torch_free_inputs(row)
    return lambda: np.matmul(a, b, out=out)


CPP_ADD = """
void add_many(const torch::Tensor& a, const torch::Tensor& b, int64_t times) {
  c10::InferenceMode guard;
  for (int64_t i = 0; i < times; ++i) at::add(a, b);
}
"""


def eager_add8(framework, times):
    import torch
    a, b = torch.rand(8), torch.rand(8)
    if framework == "torch-cpp":
        from torch.utils.cpp_extension import load_inline
        add_many = load_inline("plimsoll_bench_add", CPP_ADD, functions="add_many").add_many
        return lambda: add_many(a, b, times)

    def many():
        with torch.inference_mode():
            for _ in range(times):
                torch.add(a, b)
    return many


CALLS = {"matmul_1024": 20, "eltwise_chain8_16m": 1, "softmax_xent_4096x1000": 10, "layernorm_4096x768": 20, "eager_add8": 20000}


def make_round(framework, row):
    """(one round, what it counts as)"""
    times = CALLS[row.op]
    if row.op == "eager_add8":
        return eager_add8(framework, times), times
    call = {"torch": torch_eager, "torch-compile": torch_compiled, "jax": jax_op, "numpy": numpy_op}[framework](row)

    def many():
        for _ in range(times):
            call()

    if not framework.startswith("torch") or row.op == "softmax_xent_4096x1000" and framework == "torch":
        return many, times
    import torch
    return functools.partial(in_no_grad, torch, many), times


def in_no_grad(torch, many):
    with torch.no_grad():
        many()
