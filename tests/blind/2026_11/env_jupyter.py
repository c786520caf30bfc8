"""Kernelspecs, and what a kernel is started with."""
import pathlib
from lib import PYTHONS, ROOT, broken

START = [ROOT / "tools/bin/python", pathlib.Path(__file__).with_name("start_kernel.py"), "python3"]
ENV = {"JUPYTER_PATH": "{env}/share/jupyter"}


@broken("https://github.com/microsoft/vscode-python/issues/11749", proof=START, error="expected string|str, bytes or os.PathLike|must be str|validation error|not a string|trait",
        cause=r"kernel.*(string|number|text|CUDA_VISIBLE_DEVICES)", fix="write the value as text: \"0\"", fix_text=r"\"0\"|text|string|quot", env=ENV)
def kernelspec_with_a_number_in_env(e):
    e.venv(); e.install("ipykernel==6.29.5"); e.kernel(env={"CUDA_VISIBLE_DEVICES": 0})


@broken("", proof=START, error="NoSuchKernel|No such kernel|JSON|Expecting", cause=r"kernel\.json|kernelspec|kernel spec",
        fix="repair kernel.json, or write it anew (ipykernel install)", fix_text=r"kernel\.json|ipykernel install", env=ENV)
def kernel_json_with_a_trailing_comma(e):
    e.venv(); e.install("ipykernel==6.29.5")
    e.write("{env}/share/jupyter/kernels/python3/kernel.json", '{\n "argv": ["{env}/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],\n'
            ' "display_name": "Python 3",\n "language": "python",\n "env": {"TF_CPP_MIN_LOG_LEVEL": "2",},\n}\n')


@broken("", proof=START, error="died|didn't respond|Kernel", cause=r"connection.file|kernel.*argv",
        fix="argv needs -f {connection_file}", fix_text=r"connection_file|ipykernel install", env=ENV)
def kernelspec_without_connection_file(e):
    e.venv(); e.install("ipykernel==6.29.5"); e.kernel(argv=["{env}/bin/python", "-m", "ipykernel_launcher"])


@broken("", proof=START, error="died|didn't respond|Kernel", cause=r"PYTHONHOME",
        fix="take PYTHONHOME out of kernel.json", fix_text=r"PYTHONHOME", env=ENV)
def kernelspec_sets_pythonhome(e):
    e.venv(); e.install("ipykernel==6.29.5"); e.kernel(env={"PYTHONHOME": str(next(PYTHONS.glob("3.9.*")))})


@broken("https://github.com/albertz/background-zmq-ipython/issues/6", proof=START, error="died|didn't respond|Kernel", cause=r"jupyter.client|ipykernel|tornado|pyzmq|traitlets",
        fix="versions that fit (newer ipykernel)", apply=True, env=ENV, py="3.10")
def old_ipykernel_new_everything(e):
    e.venv(); e.install("ipykernel==5.1.0", "ipython==7.34.0", "jupyter_client==8.6.3", "tornado==6.4.2", "pyzmq==26.2.0", "traitlets==5.14.3"); e.kernel()


@broken("", proof=START, error="died|didn't respond|Kernel", cause=r"traitlets",
        fix="a newer traitlets", apply=True, env=ENV)
def traitlets_4_under_a_new_ipykernel(e):
    e.venv(); e.install("ipykernel==6.29.5"); e.install("traitlets==4.3.3", "ipython-genutils", "decorator", "six", deps=False); e.kernel()


@broken("https://github.com/spyder-ide/spyder/issues/6997", proof=START, error="died|didn't respond|Kernel", cause=r"tornado", fix="tornado>=6.1", apply=True, env=ENV)
def tornado_4_under_a_new_ipykernel(e):
    e.venv(); e.install("ipykernel==6.29.5"); e.install("tornado==4.5.3", deps=False); e.kernel()
