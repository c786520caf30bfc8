"""Libraries of the system, and data of other libraries."""
from lib import broken
from more import without


@broken("https://github.com/ahupp/python-magic/issues/248", proof="import magic", error="libmagic", wrap=without("libmagic.so"), cause=r"libmagic", fix="apt install libmagic1", fix_text=r"libmagic")
def python_magic_without_libmagic(c):
    c.venv()
    c.install("python-magic==0.4.27")


@broken("https://github.com/Kozea/WeasyPrint/issues/1384", proof="import weasyprint", error="cannot load library", wrap=without("libpango", "libgobject-2.0"), cause=r"pango|gobject", fix="apt install libpango-1.0-0 ...", fix_text=r"pango|gobject|glib")
def weasyprint_without_pango(c):
    c.venv()
    c.install("weasyprint==62.3", "pydyf==0.11.0")


@broken("https://github.com/rasterio/rasterio/issues/2453", proof="from rasterio.crs import CRS; CRS.from_epsg(4326)", error="proj.db", env={"PROJ_LIB": "{root}/qgis/share/proj"}, level="warning",
        cause=r"PROJ_LIB", fix="unset PROJ_LIB", fix_text=r"PROJ_LIB")
def proj_lib_of_another_program(c):
    c.venv()
    c.install("rasterio==1.3.10", "numpy==1.26.4")
    wheel = c.wheel("pyproj==2.6.1.post1", platform="manylinux2010_x86_64", python="3.8")
    c.unpack(wheel, to=c.root / "unpacked", skip=r"^(?!pyproj/proj_dir/share/proj/proj\.db)")
    (c.root / "qgis/share").mkdir(parents=True)
    (c.root / "unpacked/pyproj/proj_dir/share/proj").rename(c.root / "qgis/share/proj")


@broken("https://github.com/pyenv/pyenv/issues/2760", proof="import ssl", error=r"libssl|libcrypto", wrap=without("libssl.so", "libcrypto.so"), cause=r"libssl|libcrypto|_ssl", fix="libssl3, or build Python anew", fix_text=r"libssl|libcrypto|pyenv|install")
def system_upgrade_took_libssl_away(c):
    c.venv()
    c.install("requests==2.32.3")
