"""What is found before what was meant."""
import subprocess, zipfile
import lib
from lib import broken, run


@broken("https://github.com/google/ci_edit/issues/192", proof="import cProfile", error="has no attribute 'run'", cause=r"profile\.py|hides", fix="rename profile.py", fix_text=r"mv|rename")
def own_profile_py_beside_the_notebook(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.write("{work}/profile.py", "name = 'Ada'\nage = 36\n")


@broken("", proof="import pandas", error="calendar|circular|partially", cause=r"calendar\.py|hides", fix="rename calendar.py", fix_text=r"mv|rename")
def own_calendar_py_that_imports_pandas(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/calendar.py", "import pandas as pd\ndays = pd.date_range('2024-01-01', periods=7)\n")


@broken("", proof="import numpy.random", error="bad magic number in 'random'", cause=r"random\.pyc", fix="remove random.pyc", fix_text=r"rm|remove|mv")
def compiled_random_of_python_2_left_in_the_folder(c):
    c.venv()
    c.install("numpy==1.26.4")
    c.write("{work}/random.py", "print 'dice'\n")
    run([next(lib.PYTHONS.glob("2.7.*")) / "bin/python", "-m", "py_compile", c.work / "random.py"])
    (c.work / "random.py").unlink()
    assert (c.work / "random.pyc").exists()


@broken("", proof="from pydantic import BaseModel", error="typing_extensions|cannot import name", env={"PYTHONPATH": "{work}/deps.zip"}, cause=r"typing.extensions|deps\.zip",
        fix="unset PYTHONPATH, or a zip with a newer typing_extensions", fix_text=r"PYTHONPATH|typing.extensions|deps\.zip")
def zip_of_dependencies_for_spark_has_an_old_typing_extensions(c):
    c.venv()
    c.install("pydantic==2.9.2")
    c.install("typing_extensions==4.1.1", to=c.root / "old")
    with zipfile.ZipFile(c.work / "deps.zip", "w") as z:
        for p in (c.root / "old").rglob("*"):
            if p.is_file():
                z.write(p, p.relative_to(c.root / "old"))
