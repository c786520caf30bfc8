"""Packages as Debian installs them, in a folder that only dpkg writes."""

from broken import broken
from healthy import healthy


def debian_package(env, name, files, left_out=(), listed=True):
    """python3-NAME: what RECORD lists but for what Debian leaves out, and what dpkg knows of it."""
    site = env.site
    env.site = env.prefix / "lib/python3/dist-packages"
    info = env.package(name, files=files)
    env.site = site
    folder = info.parent
    for path in left_out:
        (folder / path).unlink()
    lists = env.root / "var/lib/dpkg/info"
    lists.mkdir(parents=True, exist_ok=True)
    paths = [info, *(path for path in folder.rglob("*") if path.is_file())]
    (lists / f"python3-{name}.list").write_text("".join(f"/{path.relative_to(env.root)}\n" for path in paths if listed))
    return folder


@healthy
def debian_package_that_leaves_out_what_its_record_lists(env):
    debian_package(env, "sockets", {"sockets/__init__.py": "", "sockets/backend/__init__.py": "x = 1\n"}, left_out=["sockets/backend/__init__.py"])


@broken("broken_packages", "sockets 1.0 has lost 1 of its 2 files")
def debian_package_of_which_a_file_was_removed(env):
    (debian_package(env, "sockets", {"sockets/__init__.py": "", "sockets/core.py": "x = 1\n"}) / "sockets/core.py").unlink()


@healthy
def debian_package_without_metadata_and_with_an_import_hook(env):
    folder = env.prefix / "lib/python3/dist-packages/resources"
    (folder / "extern").mkdir(parents=True)
    (folder / "__init__.py").write_text("from resources.extern.text import wrap\nfrom resources.base import Base\n")
    (folder / "extern/__init__.py").write_text("install_hook(__name__, ['text'])\n")
