"""TensorFlow's environment variables: those that limit memory draw the line, the others are named as without effect."""
import os
import sys

LIMITS = ("TF_GPU_HOST_MEM_LIMIT_IN_MB", "TF_CUDA_HOST_MEM_LIMIT_IN_MB")
NO_EFFECT = {
    "TF_FORCE_GPU_ALLOW_GROWTH": "memory is taken as it is needed",
    "TF_GPU_ALLOCATOR": "every tensor goes through the account of the line; plimsoll.set_memory_limit('2GiB') draws it",
    "TF_MEMORY_ALLOCATION_TRACE": "plimsoll.plan(model) shows what a step holds, layer by layer",
    "TF_NUM_INTRAOP_THREADS": "limit the processors of the process instead: taskset, or the container's CPU limit",
    "TF_NUM_INTEROP_THREADS": "limit the processors of the process instead: taskset, or the container's CPU limit",
    "TF_XLA_FLAGS": "steps are always compiled into one plan",
    "TF_DEVICE_MIN_SYS_MEMORY_IN_MB": "plimsoll.set_memory_limit('80%') leaves memory to others",
}


def apply(environ=os.environ, out=None):
    for name in LIMITS:
        text = environ.get(name)
        if text is None:
            continue
        if not text.strip().isdigit() or int(text) == 0:
            _say(f"{name}: expected a number of MB, got {text!r}; no line was drawn", environ, out)
            continue
        from plimsoll import set_memory_limit

        set_memory_limit(f"{int(text)}MiB")
        _say(f"{name}={text}: the memory line is at {int(text)} MiB", environ, out)
    for name, instead in NO_EFFECT.items():
        if name in environ:
            _say(f"{name} has no effect here: {instead}", environ, out)


def _say(text, environ, out):
    if int(environ.get("TF_CPP_MIN_LOG_LEVEL") or 0) < 2:
        print(f"plimsoll: {text}", file=out or sys.stderr)
