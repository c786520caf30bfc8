"""Odd, and works: proved by importing. The doctor must find no error."""
import os, shutil
from lib import UV, healthy, run

JAX = {"KERAS_BACKEND": "jax"}


@healthy(proof="import keras; keras.ops.zeros(1)", env={"KERAS_BACKEND": "jax"}, py="3.13")
def h_keras_on_jax_without_tensorflow(e):
    e.venv(); e.install("keras==3.15.1", "jax==0.10.2")


@healthy(proof="import cv2; cv2.imread")
def h_two_opencvs(e):
    e.venv(); e.install("opencv-python-headless==4.10.0.84", "numpy==1.26.4"); e.install("opencv-contrib-python-headless==4.10.0.84", deps=False)


@healthy(proof="import numpy; numpy.zeros(1)")
def h_leftover_and_a_whole_numpy(e):
    e.venv(); e.install("numpy==1.26.4")
    e.unpack(e.wheel("numpy==1.24.4", "manylinux2014_x86_64", python="3.11"), e.root / "old", skip="tests/")
    (e.root / "old/numpy").rename(e.site / "~umpy")


@healthy(proof="import keras; keras.ops.zeros(1)", env=JAX)
def h_keras_json_not_json(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4"); e.write("{home}/.keras/keras.json", '{"backend": "jax",}\n')


@healthy(proof="import numpy, tool; tool.x", env={"PYTHONPATH": "/opt/gone/lib:{work}/lib.zip::{root}/none"})
def h_pythonpath_with_zip_and_gone_folders(e):
    import zipfile
    e.venv(); e.install("numpy==1.26.4")
    with zipfile.ZipFile(e.work / "lib.zip", "w") as z:
        z.writestr("tool.py", "x = 1\n")


@healthy(proof="import numpy, yaml")
def h_system_site_packages(e):
    e.venv("--system-site-packages"); e.install("numpy==1.26.4", "pyyaml")


@healthy(proof="import mylib, numpy; mylib.x")
def h_editable_install(e):
    e.venv(); e.install("numpy==1.26.4", "setuptools==75.1.0", "wheel")
    e.write("{work}/src/mylib/__init__.py", "x = 1\n")
    e.write("{work}/pyproject.toml", "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n[project]\nname = 'mylib'\nversion = '0.1'\ndependencies = ['numpy']\n")
    run([e.python, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "-e", e.work])


@healthy(proof="import numpy, h5py; numpy.zeros(1)")
def h_packages_are_symlinks(e):
    e.venv(); run([UV, "pip", "install", "-q", "--python", e.python, "numpy==1.26.4", "h5py==3.11.0"], env=os.environ | {"UV_CACHE_DIR": str(e.root / "cache"), "UV_LINK_MODE": "symlink"})


@healthy(proof="import numpy, keras; keras.ops.zeros(1)", env=JAX)
def h_data_folders_named_like_packages(e):
    """Folders without __init__.py do not hide a package."""
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4")
    for d in ("keras", "numpy", "tensorflow", "data"):
        e.write(f"{{work}}/{d}/checkpoint.txt", "x")


@healthy(proof="from google.protobuf import descriptor_pb2", env={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"})
def h_protobuf_in_pure_python(e):
    e.venv(); e.install("protobuf==4.25.8")


@healthy(proof=["{blind}/tools/bin/python", __file__.replace("env_healthy", "start_kernel"), "python3"], env={"JUPYTER_PATH": "{env}/share/jupyter"})
def h_kernels_of_other_languages(e):
    e.venv(); e.install("ipykernel==6.29.5"); e.kernel(env={"OMP_NUM_THREADS": "2", "NOTE": "${HOME}/x"}, metadata={"debugger": True})
    e.kernel("bash", argv=["/bin/bash", "-c", "true {connection_file}"], language="bash")


@healthy(proof="import pandas; pandas.DataFrame({'a': [1]})")
def h_pandas_without_tzdata(e):
    e.venv(); e.install("pandas==2.2.2", "numpy==1.26.4"); run([e.python, "-m", "pip", "uninstall", "-y", "tzdata"])


@healthy(proof="import numpy, scipy.linalg, pandas")
def h_slimmed_image(e):
    """Tests, stubs and headers deleted to save room, as small images do."""
    e.venv(); e.install("numpy==1.26.4", "scipy==1.11.4", "pandas==2.2.2")
    for p in list(e.site.rglob("tests")):
        shutil.rmtree(p, ignore_errors=True)
    for p in [*e.site.rglob("*.pyi"), *e.site.rglob("*.h"), *e.site.rglob("*.pxd")]:
        p.unlink()


@healthy(proof="import lightgbm, sklearn.linear_model; sklearn.linear_model.LinearRegression().fit([[1], [2]], [1, 2])")
def h_several_libgomp(e):
    e.venv(); e.install("lightgbm==4.5.0", "scikit-learn==1.5.2", "numpy==1.26.4")


@healthy(proof="import numpy")
def h_pth_with_comments_and_gone_folders(e):
    e.venv(); e.install("numpy==1.26.4")
    e.write("{site}/notes.pth", "# shared code\n\n/srv/gone/python\n")
    e.write("{site}/zz_env.pth", "import os; os.environ.setdefault('GRPC_VERBOSITY', 'ERROR')\n")


@healthy(proof="import sklearn.linear_model, scipy")
def h_built_for_numpy_2_run_on_1(e):
    e.venv(); e.install("scikit-learn==1.6.1", "scipy==1.13.1", "numpy==1.26.4")


@healthy(proof="import jax; jax.numpy.zeros(1)")
def h_jaxlib_older_but_allowed(e):
    e.venv(); e.install("jax==0.4.30", "jaxlib==0.4.27", "numpy==1.26.4", "scipy==1.13.1")


@healthy(proof="import numba; numba.njit(lambda x: x + 1)(1)")
def h_numba_without_tbb(e):
    e.venv(); e.install("numba==0.60.0", "numpy==1.26.4")


@healthy(proof="import tensorflow as tf; tf.keras.layers.Dense(1); assert 'tf_keras' in str(tf.keras.layers.Dense)", env={"TF_USE_LEGACY_KERAS": "1"})
def h_legacy_keras_with_tf_keras(e):
    e.venv(); e.install("tensorflow-cpu==2.17.1", "tf-keras==2.17.0")


@healthy(proof="import keras; keras.models.load_model('{work}/model.h5', compile=False)", env=JAX, target="{work}/model.h5")
def h_keras_2_h5_that_loads(e):
    import env_files
    e.venv(); e.install("keras==3.15.1", "jax==0.10.2"); env_files.keras_215(env_files.DENSE + f"m.compile(loss='mse'); m.save({str(e.work / 'model.h5')!r})")


@healthy(proof="import numpy; numpy.zeros(1)", env={"LD_PRELOAD": "/usr/lib/gone/libtcmalloc.so.4", "PYTHONSTARTUP": "/home/gone/.pythonrc", "MPLBACKEND": "Agg", "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"})
def h_settings_that_do_no_harm(e):
    e.venv(); e.install("numpy==1.26.4")


@healthy(proof="import secrets_store, numpy; from app import random_forest")
def h_modules_with_names_near_others(e):
    e.venv(); e.install("numpy==1.26.4")
    e.write("{work}/secrets_store.py", "x = 1\n"); e.write("{work}/app/__init__.py", ""); e.write("{work}/app/random_forest.py", "x = 1\n"); e.write("{work}/app/random.py", "x = 1\n"); e.write("{work}/lib/numpy.py", "raise SystemExit\n")
