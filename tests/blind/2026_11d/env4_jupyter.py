"""Kernels that do not start: each is started as Jupyter does it."""
import pathlib, lib
from lib import broken

START = str(pathlib.Path(lib.__file__).parent / "start_kernel.py")
KERNEL = ["{env}/bin/python", START, "python3"]


@broken("", proof=KERNEL, error="Kernel didn't respond|Kernel died|timeout|TimeoutError|connection", cause=r"connection.file", fix="{connection_file} in argv, or ipykernel install anew", fix_text=r"ipykernel install|connection_file")
def kernelspec_misspells_connection_file(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.kernel(argv=["{env}/bin/python", "-m", "ipykernel_launcher", "-f", "{connection-file}"])


@broken("", proof=KERNEL, error="Permission denied", cause=r"start\.sh|executable|permission", fix="chmod +x the script, or a new kernelspec",
        fix_text=r"chmod|ipykernel install")
def kernelspec_starts_a_script_that_may_not_run(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.write("{home}/bin/start.sh", '#!/bin/bash\nmodule load cuda 2>/dev/null\nexec {env}/bin/python -m ipykernel_launcher "$@"\n')
    c.kernel(argv=["{home}/bin/start.sh", "-f", "{connection_file}"])


@broken("", proof=KERNEL, error="argv|TraitError|No such file|trait", cause=r"kernel.*(argv|list)|argv", fix="argv as a list: ipykernel install anew", fix_text=r"ipykernel install|argv")
def kernelspec_whose_argv_is_one_string(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.write("{env}/share/jupyter/kernels/python3/kernel.json", '{"argv": "{env}/bin/python -m ipykernel_launcher -f {connection_file}", "display_name": "Python 3", "language": "python"}')


@broken("https://github.com/jupyter/notebook/issues/2317", proof=KERNEL, error="Kernel died|cannot import name|traitlets", cause=r"traitlets", fix="take PYTHONPATH out of the kernelspec, or a newer traitlets there",
        fix_text=r"kernel|PYTHONPATH|traitlets|install")
def kernelspec_brings_an_old_traitlets_by_pythonpath(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.install("traitlets==4.3.3", to=c.root / "course/lib")
    c.kernel(env={"PYTHONPATH": "{root}/course/lib"})


@broken("", proof="import tornado.web", error="MutableMapping", cause=r"tornado", fix="tornado>=6", apply=True, py="3.10")
def tornado_51_on_python_310(c):
    c.venv()
    c.install("ipykernel==5.5.6", "ipython==8.12.3", "ipython_genutils", "jupyter_client==6.1.12", "tornado==5.1.1")


@broken("", proof=KERNEL, error="Kernel died|No module named 'pygments'", cause=r"pygments", fix="install pygments", apply=True)
def pygments_uninstalled_with_a_theme(c):
    """`pip uninstall pygments` after trying a theme: IPython needs it."""
    c.venv()
    c.install("ipykernel==6.29.5")
    lib.run([c.python, "-m", "pip", "uninstall", "-q", "-y", "pygments"])
