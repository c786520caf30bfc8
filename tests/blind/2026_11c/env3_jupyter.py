"""Kernels that do not start. `start_kernel.py` of the first set starts them as Jupyter does."""
import os, pathlib, lib
from lib import broken

START = str(pathlib.Path(lib.__file__).parent / "start_kernel.py")
OTHER = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]


@broken("https://github.com/jupyter/notebook/issues/3501", proof=["{env}/bin/python", START, "tf"], error="No such file or directory",
        cause=r"kernel", fix="remove the kernelspec of the user, or install it anew", fix_text=r"kernelspec|ipykernel install|rm")
def users_kernel_points_to_a_removed_conda(c):
    c.venv()
    c.install("ipykernel==7.4.0")
    c.write("{home}/.local/share/jupyter/kernels/tf/kernel.json",
            '{"argv": ["{home}/anaconda3/envs/tf/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python (tf)", "language": "python"}')


@broken("", proof=["{env}/bin/python", START, "python3"], error="Kernel died|No module named",
        cause=r"IPython\.kernel|kernel", fix="ipykernel install anew", fix_text=r"ipykernel install|rm|ipykernel_launcher")
def kernelspec_of_2014_starts_ipython_kernel(c):
    c.venv()
    c.install("ipykernel==7.4.0")
    c.kernel(argv=["{env}/bin/python", "-m", "IPython.kernel", "-f", "{connection_file}"])


@broken("https://github.com/jupyter/notebook/issues/5301", proof=["timeout", "60", "{env}/bin/jupyter-kernel", "--kernel=python3"], error="Permission denied: .*runtime/kernel", wrap=OTHER,
        cause=r"runtime|permission|writ|owner|owned", fix="chown the folder back to the user", fix_text=r"chown|chmod|rm|JUPYTER_RUNTIME_DIR")
def runtime_folder_of_jupyter_belongs_to_root(c):
    c.venv(base="/usr/bin/python3.11")     # other users cannot reach pyenv's in /root
    c.install("ipykernel==7.4.0")
    d = c.home / ".local/share/jupyter/runtime"
    d.mkdir(parents=True)
    d.chmod(0o700)
    for p in (lib.ROOT, lib.ROOT / "envs", c.root, c.home, c.work, c.home / ".local", c.home / ".local/share", c.home / ".local/share/jupyter"):
        p.chmod(0o755)
        if c.home in (p, *p.parents):
            os.chown(p, 12345, 12345)


@broken("", proof=["timeout", "60", "{env}/bin/jupyter-server", "--no-browser", "--allow-root", "--port=0"], error="nb_conda_kernels",
        cause=r"nb_conda_kernels|jupyter.*config", fix="remove the line from the configuration, or install nb_conda_kernels", fix_text=r"nb_conda_kernels|config|rm|mv", asked_for="undocumented")
def server_config_names_nb_conda_kernels(c):
    c.venv()
    c.install("jupyter-server==2.17.0", "ipykernel==7.4.0")
    c.write("{home}/.jupyter/jupyter_server_config.json", '{"ServerApp": {"kernel_spec_manager_class": "nb_conda_kernels.CondaKernelSpecManager"}}\n')


@broken("", proof=["{env}/bin/python", START, "python3", "import numpy"], error="Kernel died|libzmq|undefined symbol|cannot open|LD_PRELOAD|file too short|invalid ELF",
        cause=r"LD_LIBRARY_PATH|library|libstdc|libffi", fix="take LD_LIBRARY_PATH out of the kernelspec", fix_text=r"kernel|LD_LIBRARY_PATH", real=False)
def kernelspec_sets_a_library_path_with_a_cut_libffi(c):
    c.venv()
    c.install("ipykernel==7.4.0", "numpy==2.4.6")
    c.write("{root}/oldlibs/libffi.so.8", pathlib.Path("/usr/lib/x86_64-linux-gnu/libffi.so.8").read_bytes()[:2000])
    c.kernel(env={"LD_LIBRARY_PATH": "{root}/oldlibs"})


@broken("", proof=["{env}/bin/python", START, "python3"], error="Kernel died|cannot import name|No module named|zmq", apply=True,
        cause=r"zmq", fix="reinstall or upgrade pyzmq")
def pyzmq_of_two_versions(c):
    c.venv()
    c.install("ipykernel==6.29.5", "pyzmq==26.2.0")
    c.unpack(c.wheel("pyzmq==25.1.2", platform="manylinux2014_x86_64"), skip=r"dist-info|\.so")
