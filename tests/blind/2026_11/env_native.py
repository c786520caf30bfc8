"""Native libraries for another machine, or not whole."""
import re, shutil, subprocess
from lib import broken, rewrite, record_line


def relisted(e, path):
    """RECORD says what the file now is: no finding by a hash alone."""
    for record in e.site.glob("*.dist-info/RECORD"):
        name = str(path.relative_to(e.site))
        text = record.read_text()
        if name + "," in text:
            rewrite(record, re.sub(rf"(?m)^{re.escape(name)},.*\n", record_line(e.site, path), text).encode())


@broken("", proof="import numpy", error="libc.musl|_multiarray_umath|C-extensions",
        cause=r"musl", fix="install NumPy for this system (pip, force)", apply=True)
def numpy_of_alpine(e):
    e.venv(); e.unpack(e.wheel("numpy==1.26.4", "musllinux_1_1_x86_64"))


@broken("", proof="import zmq", error="zmq", cause=r"(zmq|pyzmq).*(aarch64|arm64|architecture|processor|machine)",
        fix="install pyzmq again on this machine", apply=True)
def pyzmq_of_an_arm_image(e):
    e.venv(); e.install("ipykernel==6.29.5")
    for d in ["zmq", "pyzmq.libs", *[p.name for p in e.site.glob("pyzmq-*")]]:
        shutil.rmtree(e.site / d, ignore_errors=True)
    e.unpack(e.wheel("pyzmq==26.2.0", "manylinux2014_aarch64"))


@broken("", proof="import numpy, pandas", error="pandas|numpy",
        cause=r"(pandas|numpy).*(mac|darwin|mach-o)", fix="install it again on Linux", apply=True)
def packages_copied_from_a_mac(e):
    e.venv(); e.install("python-dateutil", "pytz", "tzdata", "six")
    e.unpack(e.wheel("numpy==1.26.4", "macosx_11_0_arm64")); e.unpack(e.wheel("pandas==2.2.2", "macosx_11_0_arm64"))


@broken("", proof="import scipy.linalg", error="cannot open shared object file",
        cause=r"scipy.*(openblas|gfortran|quadmath|\.libs|scipy\.libs)", fix="reinstall scipy", apply=True)
def scipy_libs_folder_left_out(e):
    """.dockerignore with *.libs, as some images have."""
    e.venv(); e.install("scipy==1.11.4", "numpy==1.26.4"); shutil.rmtree(e.site / "scipy.libs")


@broken("", proof="import h5py", error="GLIBC_2.41",
        cause=r"glibc", fix="an h5py built for this glibc (reinstall, or conda)", apply=True)
def h5py_built_on_a_newer_system(e):
    e.venv(); e.install("h5py==3.11.0", "numpy==1.26.4")
    for f in (e.site / "h5py").glob("*.so"):
        data = f.read_bytes()
        if b"GLIBC_2.14\0" in data:
            rewrite(f, data.replace(b"GLIBC_2.14\0", b"GLIBC_2.41\0")); relisted(e, f)


@broken("https://github.com/git-lfs/git-lfs/issues/4240", proof="import h5py", error="invalid ELF header|file too short",
        cause=r"h5py", fix="reinstall h5py (or git lfs pull)", apply=True)
def environment_kept_in_git_lfs(e):
    e.venv(); e.install("h5py==3.11.0", "numpy==1.26.4")
    for f in (e.site / "h5py").glob("*.so"):
        rewrite(f, f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a21' * 10}abcd\nsize {f.stat().st_size}\n".encode())


@broken("https://github.com/pytorch/pytorch/issues/104259", real=False, proof="import torch", error="libcudnn.so.8",
        cause=r"cudnn", fix="nvidia-cudnn-cu12 of major version 8, as torch asks", fix_text=r"(nvidia-)?cudnn.*8|reinstall.*torch|install.*torch")
def torch_with_cudnn_9(e):
    e.venv()
    (e.site / "torch/lib").mkdir(parents=True); (e.site / "nvidia/cudnn/lib").mkdir(parents=True)
    cc(e, "int cudnnCreate(void){return 0;}", e.site / "nvidia/cudnn/lib/libcudnn.so.8", "-Wl,-soname,libcudnn.so.8")
    cc(e, "int cudnnCreate(void); int t(void){return cudnnCreate();}", e.site / "torch/lib/libtorch_cuda.so", "-Wl,-soname,libtorch_cuda.so",
       "-Wl,-rpath,$ORIGIN/../../nvidia/cudnn/lib", str(e.site / "nvidia/cudnn/lib/libcudnn.so.8"))
    (e.site / "nvidia/cudnn/lib/libcudnn.so.8").unlink()
    cc(e, "int cudnnCreate(void){return 0;}", e.site / "nvidia/cudnn/lib/libcudnn.so.9", "-Wl,-soname,libcudnn.so.9")
    e.write("{site}/torch/__init__.py", "import ctypes, os\n__version__ = '2.2.2+cu121'\nctypes.CDLL(os.path.join(os.path.dirname(__file__), 'lib', 'libtorch_cuda.so'))\n")
    e.dist("torch", "2.2.2", ["torch/__init__.py", "torch/lib/libtorch_cuda.so"], ['nvidia-cudnn-cu12 (==8.9.2.26) ; platform_system == "Linux" and platform_machine == "x86_64"'])
    e.dist("nvidia-cudnn-cu12", "9.5.1.17", ["nvidia/cudnn/lib/libcudnn.so.9"])


@broken("https://github.com/odlgroup/odl/issues/1451", proof="import fastops, ctypes, glob; ctypes.CDLL(glob.glob('{env}/lib/libiomp5.so')[0]).omp_get_max_threads()",
        error="OMP: Error #15|already initialized", cause=r"openmp|libiomp5", fix="one runtime: drop one copy, or build fastops against intel-openmp's", real=True,
        fix_text=r"fastops|intel-openmp|openmp|libiomp5")
def two_intel_openmp(e):
    e.venv(); e.install("intel-openmp==2023.2.0")
    lib = e.dir / "lib/libiomp5.so"
    (e.site / "fastops.libs").mkdir()
    shutil.copy(lib, e.site / "fastops.libs/libiomp5-9f2c1a.so")
    (e.site / "fastops").mkdir()
    cc(e, "int omp_get_max_threads(void); int fast(void){return omp_get_max_threads();}", e.site / "fastops/_ops.so", "-Wl,-rpath,$ORIGIN/../fastops.libs",
       str(e.site / "fastops.libs/libiomp5-9f2c1a.so"))
    e.write("{site}/fastops/__init__.py", "import ctypes, os\nos.environ.pop('KMP_DUPLICATE_LIB_OK', None)\nhere = os.path.dirname(__file__)\n"
            "ctypes.CDLL(os.path.join(here, '..', 'fastops.libs', 'libiomp5-9f2c1a.so')).omp_get_max_threads()\n")
    e.dist("fastops", "1.4.0", ["fastops/__init__.py", "fastops/_ops.so", "fastops.libs/libiomp5-9f2c1a.so"])


def cc(e, code, to, *options):
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", *options, "-o", str(to)], input=code.encode(), check=True)
