"""Jupyter: kernels that do not start, servers that do not load."""
import json
from lib import broken, run, PYTHONS
from more import drop

START = """
from jupyter_client.manager import start_new_kernel
km, kc = start_new_kernel(kernel_name='python3', startup_timeout=100)
reply = kc.execute_interactive({code!r}, timeout=200)['content']
km.shutdown_kernel(now=True)
if reply['status'] != 'ok':
    print(reply['ename'], reply['evalue'])
    raise SystemExit(1)
"""
JUPYTER = ["ipykernel==6.29.5", "ipython<9.9", "jupyter_client==8.6.3"]


def start(code="1 + 1"):
    return START.replace("{code!r}", repr(code))


@broken("https://github.com/Jupyter-contrib/jupyter_nbextensions_configurator/issues/165", proof="import jupyter_nbextensions_configurator", error="No module named 'notebook.base'",
        cause=r"(?=.*nbextensions.configurator)(?=.*notebook)", fix="notebook<7 (or a configurator that fits, or remove it)", apply=True)
def nbextensions_configurator_notebook_7(c):
    c.venv()
    c.install("jupyter_nbextensions_configurator==0.6.3", "notebook==7.2.2", "setuptools==75.1.0")


@broken("", proof=start(), error=r"No such file or directory: '~/|FileNotFoundError|\[Errno 2\]", cause=r"(?=.*kernel)(?=.*(~/|not there|exist|gone|no such|none|interpreter))",
        fix="the whole path in kernel.json, or write the kernelspec anew", fix_text=r"ipykernel install|kernel\.json")
def kernelspec_with_a_tilde(c):
    c.venv()
    c.install(*JUPYTER)
    c.kernel(argv=["~/venv/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"])


@broken("", proof=start(), error="BOM|No such kernel|NoSuchKernel|JSONDecodeError", cause=r"(?=.*kernel)(?=.*(json|BOM|byte order|parse|read))", fix="write the kernelspec anew",
        fix_text=r"ipykernel install|kernel\.json", level="warning")
def kernel_json_saved_by_notepad_with_bom(c):
    c.venv()
    c.install(*JUPYTER)
    f = c.kernel()
    f.write_bytes(b"\xef\xbb\xbf" + f.read_bytes())


@broken("", proof=start("import keras"), error="(?i)(unable to import backend|theano)", cause=r"(?=.*theano)", fix="take KERAS_BACKEND out of kernel.json, or name a backend that is there",
        fix_text=r"KERAS_BACKEND|kernel\.json|ipykernel install|keras")
def kernelspec_of_a_course_from_2018_wants_theano(c):
    c.venv()
    c.install(*JUPYTER, "keras==3.8.0", "jax==0.5.0", "numpy==1.26.4")
    c.kernel(env={"KERAS_BACKEND": "theano"})


@broken("", proof=start(), error="No module named ipykernel", cause=r"(?=.*ipykernel)", fix="ipykernel into the environment that the kernelspec starts", fix_text=r"ipykernel", level="warning",
        env={"JUPYTER_PREFER_ENV_PATH": "0"})
def users_kernelspec_of_a_project_without_ipykernel(c):
    c.venv()
    c.install(*JUPYTER)
    other = c.root / "project"
    run([next(PYTHONS.glob("3.12.*")) / "bin/python", "-m", "venv", "--without-pip", other])
    c.write("{home}/.local/share/jupyter/kernels/python3/kernel.json", json.dumps(
        {"argv": [f"{other}/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "project", "language": "python"}))


@broken("", proof=start(), error="No module named 'comm'", cause=r"(?=.*\bcomm\b)", fix="install comm", apply=True)
def ipykernel_after_comm_was_removed(c):
    c.venv()
    c.install(*JUPYTER)
    c.kernel()
    drop(c, "comm", "comm-*.dist-info")


@broken("https://github.com/jupyter/nbconvert/issues/978", proof="import nbconvert", error="has no attribute 'asynchronous'", cause=r"(?=.*nbconvert)(?=.*tornado)",
        fix="nbconvert>=5.4.1 (and what fits it), or tornado<6", apply=True, py="3.8")
def nbconvert_54_tornado_6(c):
    c.venv()
    c.install("nbconvert==5.4.0", "tornado==6.4.2", "jinja2<3.1", "markupsafe<2.1", "mistune<1", "jupyter_client<7", "traitlets<5.10", "ipython_genutils")
