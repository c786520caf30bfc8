"""Native libraries: of another system, gone, or another one found first."""
import shutil, subprocess
from lib import broken
from more import drop, gcc, without


@broken("https://github.com/lightgbm-org/LightGBM/issues/2223", proof="import lightgbm", error="libgomp.so.1: cannot open shared object file", cause="libgomp", fix="install the system's libgomp1 (no pip package brings it)",
        fix_text=r"libgomp", wrap=without("libgomp.so"))
def lightgbm_in_an_image_without_libgomp(c):
    c.venv()
    c.install("lightgbm==4.5.0", "numpy==1.26.4", "scipy==1.13.1")


@broken("https://github.com/opencv/opencv-python/issues/370", proof="import cv2", error="libGL.so.1: cannot open shared object file", cause=r"libGL\.so",
        fix="opencv-python-headless instead, or the system's libgl1", fix_text=r"headless|libgl|mesa", wrap=without("libGL.so"))
def opencv_in_an_image_without_libgl(c):
    c.venv()
    c.install("opencv-python==4.10.0.84", "numpy==1.26.4")


@broken("", proof="import ipykernel.kernelapp", error="wrong ELF class: ELFCLASS32", cause=r"(?=.*psutil)(?=.*(32|i.?[36]86|architecture|machine|ELF))",
        fix="psutil again, for this machine", apply=True)
def psutil_of_a_32_bit_image(c):
    c.venv()
    c.install("ipykernel==6.29.5", "psutil==5.9.8", "ipython<9.9")
    c.unpack(c.wheel("psutil==5.9.8", platform="manylinux2010_i686", python="3.11"))


@broken("https://github.com/pydantic/pydantic/issues/6557", proof="from pydantic import BaseModel", error="No module named 'pydantic_core._pydantic_core'", cause=r"(?=.*pydantic.core)",
        fix="pydantic_core again, for this system", apply=True)
def lambda_layer_made_on_windows(c):
    c.venv()
    c.install("pydantic==2.8.2")
    drop(c, "pydantic_core*")
    c.unpack(c.wheel("pydantic_core==2.20.1", platform="win_amd64", python="3.11"))


@broken("", proof="import numpy", error="(No module named 'numpy._core._multiarray_umath'|numpy C-extensions failed|numpy.*failed)", py="3.13",
        cause=r"(?=.*numpy)(?=.*(313t|free.?thread|another python|other python|abi|for python|for cpython))", fix="numpy again, for this Python", apply=True)
def numpy_of_the_free_threaded_python(c):
    c.venv()
    c.install("numpy==2.1.3")
    drop(c, "numpy*")
    wheel = c.root / "w"
    import lib
    lib.run([lib.ROOT / "tools/bin/pip", "download", "-q", "--no-deps", "-d", wheel, "--platform", "manylinux2014_x86_64", "--only-binary=:all:",
             "--python-version", "3.13", "--abi", "cp313t", "--implementation", "cp", "numpy==2.1.3"])
    c.unpack(next(wheel.glob("*.whl")))
    shutil.rmtree(wheel)


@broken("https://github.com/numpy/numpy/issues/20101", proof="import numpy", error="ELF load command address/offset not (properly|page).aligned", py="3.9",
        cause=r"(?=.*(libgfortran|numpy))(?=.*(align|damage|strip|cut|broken|load))", fix="numpy again", apply=True)
def numpy_libraries_stripped_in_the_image(c):
    c.venv()
    c.install("numpy==1.21.2")
    for f in (c.site / "numpy.libs").glob("*.so*"):
        subprocess.run(["strip", "-o", f"{f}.new", str(f)], check=True)
        f.unlink()
        f.with_name(f.name + ".new").rename(f)


@broken("", proof="import ssl", error=r"version `OPENSSL_3[^']*' not found", cause=r"(?=.*(libcrypto|libssl|openssl))(?=.*(LD_LIBRARY_PATH|version|old))", real=False,
        fix="take the folder out of LD_LIBRARY_PATH", fix_text="LD_LIBRARY_PATH", env={"LD_LIBRARY_PATH": "{root}/lib"})
def openssl_1_of_another_program_on_the_library_path(c):
    c.venv()
    c.install("requests==2.32.5")
    c.write("{root}/src/v", "OPENSSL_1_1_0 { global: *; };\n")
    for n in ("libcrypto.so.3", "libssl.so.3"):
        gcc(c, n, "int OPENSSL_init_crypto(void) { return 1; }\n", "-Wl,-soname," + n, "-Wl,--version-script={root}/src/v")


@broken("", proof="import lightgbm", error="(?i)(cannot find lightgbm library|lib_lightgbm.so)", cause=r"(?=.*lightgbm)(?=.*(lib_lightgbm|missing|gone|not there|lost|absent))",
        fix="lightgbm again", apply=True)
def dockerignore_left_out_the_shared_libraries(c):
    c.venv()
    c.install("lightgbm==4.5.0", "numpy==1.26.4", "scipy==1.13.1")
    drop(c, "lightgbm/lib/*.so", "lightgbm/bin/*.so")
