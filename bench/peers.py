"""The peers of the benchmark, one process per (framework, row):

  python bench/peers.py FRAMEWORK ROW THREADS [STEPS]

prints a JSON line {"ready": true, "threads": n} after warm-up (of start_MODEL: after the first training step); n is how many threads
the framework says it uses. Each line on standard input then asks for one round and is answered by a line {"value": v} in the row's
unit. STEPS steps make a round, else as many as peer_models.py says. Frameworks: torch, torch-compile, torch-graph, torch-cpp, jax, tensorflow, keras-tensorflow, keras-jax, keras-torch,
keras-plimsoll (ours), numpy.
"""
import functools
import json
import os
import sys
import time

from peer_models import Row

ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
if os.environ.get("PLIMSOLL_BENCH_DEVICE", "cpu") == "cuda":
    ENVIRONMENT = {"JAX_PLATFORMS": "cuda", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def make_round(framework, row, threads):
    """A function that runs one round, how many units it counts as, and one that counts threads. Libraries are imported here."""
    import peer_keras
    if os.environ.get("JAX_PLATFORMS") == "cuda":
        count_threads = lambda: threads  # the host's do not matter
    elif framework in ("jax", "tensorflow") or framework.startswith("keras-"):
        peer_keras.set_threads(framework, threads)
        count_threads = functools.partial(peer_keras.threads_used, framework)
    elif framework.startswith("torch"):
        import torch
        torch.set_num_threads(threads)
        count_threads = torch.get_num_threads
    else:
        count_threads = lambda: threads  # NumPy's BLAS has read OPENBLAS_NUM_THREADS
    if row.keras and not row.model:
        return *peer_keras.op_round(row), count_threads if row.op != "import" else lambda: threads
    if not row.model:
        import peer_ops
        return *peer_ops.make_round(framework, row), count_threads
    if framework.startswith("torch"):
        import peer_torch
        return peer_torch.make_round(framework, row), row.steps, count_threads
    if framework == "jax":
        import peer_jax
        return peer_jax.make_round(row), row.steps, count_threads
    return peer_keras.make_round(framework, row), row.steps, count_threads


def main():
    framework, name, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.environ.update(ENVIRONMENT, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print does not mix with the answers
    row = Row(name, *map(int, sys.argv[4:5]))
    call, count, threads_used = make_round(framework, row, threads)
    call()
    begin = time.perf_counter()
    for _ in range(0 if row.start else 2):  # compilers may look at a program twice before they settle
        if time.perf_counter() - begin < 3:
            call()
    print(json.dumps({"ready": True, "threads": threads_used()}), file=answers, flush=True)
    scale = 1e6 if "eager_add8" in name else 1e3
    for _ in sys.stdin:
        start = time.perf_counter()
        call()
        value = (time.perf_counter() - start) / count * scale
        print(json.dumps({"value": value}), file=answers, flush=True)


if __name__ == "__main__":
    main()
