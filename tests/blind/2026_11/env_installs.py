"""Half-finished installs and what they leave."""
import os, shutil
from lib import PYTHONS, UV, broken, run


@broken("https://github.com/freqtrade/freqtrade/issues/6208", proof="import numpy", error="No module named 'numpy'", cause=r"numpy",
        fix="remove the leftovers and install numpy", apply=True)
def upgrade_of_numpy_interrupted(e):
    """pip renamed numpy to ~umpy and was killed before it wrote the new one. pandas still needs it."""
    e.venv(); e.install("pandas==2.2.2", "numpy==1.26.4")
    for a in list(e.site.glob("numpy*")):
        a.rename(a.with_name("~" + a.name[1:]))


@broken("https://github.com/Comfy-Org/ComfyUI/issues/5429", proof="import numpy", error="Error", cause=r"numpy", fix="force-reinstall numpy, after removing the mixed folder", apply=True)
def two_numpys_in_one_folder(e):
    """conda's 1.26 unpacked over pip's 2.1: two dist-infos, one folder."""
    e.venv(); e.install("numpy==2.1.3")
    whl = e.wheel("numpy==1.26.4", "manylinux2014_x86_64")
    e.unpack(whl, skip=r"^numpy/(lib|linalg|ma|matrixlib|polynomial|random|testing|typing|version)|^numpy/__init__")   # killed half-way


@broken("", proof="import transformers", error="tqdm|distribution was not found|No package metadata",
        cause=r"tqdm|metadata|dist-info", fix="reinstall tqdm (its dist-info is gone)", apply=True)
def metadata_of_tqdm_deleted(e):
    e.venv(); e.install("transformers==4.44.2", "numpy==1.26.4")
    for d in e.site.glob("tqdm-*.dist-info"):
        shutil.rmtree(d)


@broken("https://github.com/huggingface/transformers/issues/23076", proof="import transformers", error="found=None|NoneType",
        cause=r"numpy.*(METADATA|dist-info|metadata|1\.24)", fix="remove the empty dist-info (and reinstall numpy)", apply=True)
def dist_info_without_metadata(e):
    e.venv(); e.install("transformers==4.44.2", "numpy==1.26.4")
    for n in ("INSTALLER", "REQUESTED"):
        e.write(f"{{site}}/numpy-1.24.3.dist-info/{n}", "pip\n")


@broken("", proof="import sklearn.linear_model", error="No module named|cannot import name|ImportError",
        cause=r"sklearn|scikit", fix="reinstall scikit-learn", apply=True)
def disk_full_in_the_middle_of_scikit_learn(e):
    e.venv(); e.install("scikit-learn==1.5.2", "numpy==1.26.4")
    for d in e.site.glob("scikit_learn-*.dist-info"):
        shutil.rmtree(d)
    for d in ("linear_model", "utils", "metrics", "svm", "tree"):
        shutil.rmtree(e.site / "sklearn" / d)


@broken("", proof="import numpy; numpy.zeros(1)", error="No module named|Error", cause=r"(link|cache|gone|missing|broken|numpy)",
        fix="make the environment anew, or reinstall its packages", apply=True)
def uv_cache_cleaned_under_symlinks(e):
    """UV_LINK_MODE=symlink, then `uv cache clean`."""
    e.venv()
    cache = e.root / "cache"
    run([UV, "pip", "install", "-q", "--python", e.python, "numpy==1.26.4", "h5py==3.11.0"], env=os.environ | {"UV_CACHE_DIR": str(cache), "UV_LINK_MODE": "symlink"})
    shutil.rmtree(cache)


@broken("", proof="import keras", error="No module named 'keras'",
        cause=r"3\.12|3\.11|interpreter|python", fix="make the environment anew", apply=False, fix_text=r"venv|anew|3\.11", env={"KERAS_BACKEND": "jax"})
def base_python_moved_to_312(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4")
    new = next(PYTHONS.glob("3.12.*")) / "bin/python3.12"
    for n in ("python", "python3"):
        p = e.dir / "bin" / n
        p.unlink(missing_ok=True); p.symlink_to(new)


@broken("https://github.com/opencv/opencv-python/issues/962", proof="import cv2; cv2.imread", error="cv2", cause=r"cv2|opencv",
        fix="force-reinstall one of the two OpenCV wheels", apply=True)
def one_of_two_opencvs_removed(e):
    e.venv(); e.install("opencv-python-headless==4.10.0.84", "numpy==1.26.4"); e.install("opencv-contrib-python-headless==4.10.0.84", deps=False)
    run([e.python, "-m", "pip", "uninstall", "-y", "opencv-contrib-python-headless"])


@broken("", proof="import vendorlib", error="bad magic number", cause=r"magic|pyc|bytecode|compiled|other python|3\.8",
        fix="get the package for this Python", fix_text=r"install|python 3\.8|3\.8", real=False)
def package_of_bytecode_for_38(e):
    e.venv()
    src = e.write("{root}/src/vendorlib/__init__.py", "value = 1\n")
    (e.site / "vendorlib").mkdir()
    run([next(PYTHONS.glob("3.8.*")) / "bin/python", "-c", f"import py_compile; py_compile.compile({str(src)!r}, {str(e.site / 'vendorlib/__init__.pyc')!r})"])
    e.dist("vendorlib", "3.2", ["vendorlib/__init__.pyc"])
