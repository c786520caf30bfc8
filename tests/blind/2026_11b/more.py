"""What several of these cases need: private base Pythons, libraries taken away, limits."""
import pathlib, shutil, subprocess
import lib

LIBS = "/usr/lib/x86_64-linux-gnu"


def base_python(c, to=None, version=None):
    """A Python of its own, hard links to pyenv's: files may be removed or replaced in it, never written in place."""
    to = pathlib.Path(to or c.root / "base")
    src = next(lib.PYTHONS.glob((version or c.py) + ".*"))
    shutil.copytree(src, to, symlinks=True, copy_function=lambda a, b: pathlib.Path(b).hardlink_to(a) if not pathlib.Path(a).is_symlink() else shutil.copy2(a, b, follow_symlinks=False),
                    ignore=shutil.ignore_patterns("test", "tests", "idlelib", "*.a", "site-packages", "__pycache__", "include", "man"))
    (to / f"lib/python{version or c.py}/site-packages").mkdir(parents=True, exist_ok=True)
    return to / f"bin/python{version or c.py}"


def without(*names):
    """A wrapper under which these system libraries are not there (as in a slim image)."""
    script = (f't=$(mktemp -d); for n in {" ".join(names)}; do for f in {LIBS}/$n*; do mknod $t/${{f##*/}} c 0 0; done; done; '
              f'mount -t overlay overlay -o lowerdir=$t:{LIBS} {LIBS} && exec "$@"')
    return ["unshare", "-m", "bash", "-c", script, "sh"]


def limited(command):
    return ["bash", "-c", f'{command}; exec "$@"', "sh"]


def drop(c, *patterns, site=None):
    for p in patterns:
        for f in sorted(pathlib.Path(site or c.site).glob(p)):
            shutil.rmtree(f) if f.is_dir() and not f.is_symlink() else f.unlink()


def gcc(c, name, source, *options):
    p = c.write(f"{{root}}/src/{name}.c", source)
    out = c.root / "lib" / name
    out.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(out), str(p), *[c.fill(o) for o in options]], check=True)
    return out
