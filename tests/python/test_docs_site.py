"""The documentation as a site: it builds without a warning, asks no other host for anything, and every page is two clicks away."""
import html.parser
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Links(html.parser.HTMLParser):
    """What a page loads by itself, and where it leads."""

    def __init__(self):
        super().__init__()
        self.loads, self.leads = [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag in ("script", "img", "iframe") and values.get("src"):
            self.loads.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "preconnect", "icon"):
            self.loads.append(values["href"])
        if tag == "a" and values.get("href"):
            self.leads.append(values["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", ROOT / "mkdocs.yml", "-d", folder],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    return folder


def links(page):
    found = Links()
    found.feed(page.read_text())
    return found


def test_no_page_asks_another_host(site):
    for page in site.rglob("*.html"):
        outside = [url for url in links(page).loads if re.match(r"(https?:)?//", url)]
        assert not outside, (page.name, outside)
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(https?:)?//", style.read_text()), style


def test_every_page_is_two_clicks_from_the_first(site):
    def step(pages):
        near = set()
        for page in pages:
            for lead in links(page).leads:
                target = (page.parent / lead.split("#")[0]).resolve()
                if lead.split("#")[0].endswith(".html") and not re.match(r"\w+:", lead):
                    near.add(target)
        return near

    first = {(site / "index.html").resolve()}
    near = first | step(first)
    near |= step(near)
    everything = {page.resolve() for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(everything) > 60
    assert everything <= near, sorted(page.name for page in everything - near)
