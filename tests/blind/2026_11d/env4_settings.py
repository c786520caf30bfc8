"""Variables, and who may write where."""
import lib
from lib import broken

OTHER = ["setpriv", "--reuid=12351", "--regid=12351", "--clear-groups"]


@broken("", proof="import docker", error="distutils", py="3.12", env={"SETUPTOOLS_USE_DISTUTILS": "stdlib"}, cause=r"SETUPTOOLS_USE_DISTUTILS|distutils",
        fix="unset SETUPTOOLS_USE_DISTUTILS", fix_text=r"SETUPTOOLS_USE_DISTUTILS|docker")
def setuptools_told_to_use_the_distutils_of_python(c):
    c.venv()
    c.install("docker==4.4.4", "urllib3<2", "setuptools==75.1.0")


@broken("", proof="import numpy", error="NPY_DISABLE_CPU_FEATURES", env={"NPY_DISABLE_CPU_FEATURES": "SSE SSE2 SSE3 AVX2"}, cause=r"NPY_DISABLE_CPU_FEATURES",
        fix="unset it", fix_text=r"NPY_DISABLE_CPU_FEATURES")
def numpy_without_the_features_it_was_built_for(c):
    c.venv()
    c.install("numpy==1.26.4")


@broken("", proof="import numpy", error="PYTHONTRACEMALLOC", env={"PYTHONTRACEMALLOC": "true"}, cause=r"PYTHONTRACEMALLOC", fix="a number", fix_text=r"PYTHONTRACEMALLOC")
def pythontracemalloc_true(c):
    c.venv()
    c.install("numpy==1.26.4")


@broken("", proof="import numpy", error="encodings|platform|Fatal", env={"PYTHONPLATLIBDIR": "lib64"}, cause=r"PYTHONPLATLIBDIR", fix="unset it", fix_text=r"PYTHONPLATLIBDIR")
def pythonplatlibdir_of_fedora(c):
    c.venv()
    c.install("numpy==1.26.4")
    if (c.dir / "lib64").is_symlink():
        (c.dir / "lib64").unlink()


@broken("", proof="import numpy", error="int_max_str_digits|INTMAXSTRDIGITS", env={"PYTHONINTMAXSTRDIGITS": "500"}, cause=r"PYTHONINTMAXSTRDIGITS", fix="0, or 640 and more", fix_text=r"PYTHONINTMAXSTRDIGITS")
def pythonintmaxstrdigits_500(c):
    c.venv()
    c.install("numpy==1.26.4")


@broken("", proof="import jax; jax.numpy.ones((2, 2)) @ jax.numpy.ones((2, 2))", error="matmul_precision|JAX_DEFAULT_MATMUL_PRECISION", env={"JAX_DEFAULT_MATMUL_PRECISION": "fp32"}, cause=r"JAX_DEFAULT_MATMUL_PRECISION",
        fix="float32", fix_text=r"JAX_DEFAULT_MATMUL_PRECISION")
def jax_matmul_precision_fp32(c):
    c.venv()
    c.install("jax==0.10.2", "jaxlib==0.10.2")


@broken("https://github.com/numba/numba/issues/4032", proof="import fastgrid", error="no locator available", wrap=OTHER, cause=r"numba|cache|NUMBA_CACHE_DIR", fix="NUMBA_CACHE_DIR, or a home that can be written",
        fix_text=r"NUMBA_CACHE_DIR|HOME|chown|writ", level="warning")
def numba_has_no_place_for_its_cache(c):
    c.venv(base="/usr/bin/python3.11")
    c.install("numba==0.60.0", "numpy==1.26.4")
    c.write("{site}/fastgrid/__init__.py", "import numba\n\n\n@numba.njit(cache=True)\ndef area(x, y):\n    return x * y\n")
    c.dist("fastgrid", "1.0", files=["fastgrid/__init__.py"], requires=["numba"])
    for p in (lib.ROOT, lib.ROOT / "envs", c.root, c.work):
        p.chmod(0o755)
    c.home.chmod(0o700)
