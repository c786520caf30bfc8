"""The documentation as a site: it builds without a warning, asks no other host for anything, every page is two clicks away, and none is
wider than a phone."""
import functools
import html.parser
import http.server
import json
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import threading

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


# Each page in a frame as wide as a phone; how wide it is, and whom it asked for anything, goes back to the server.
PHONE = """<!doctype html><iframe id=f style="width:390px;height:800px"></iframe><script>
const pages = PAGES, found = {}, frame = document.getElementById("f");
function next() {
  if (pages.length == 0) { fetch("/found", {method: "POST", body: JSON.stringify(found)}); return; }
  const page = pages.pop();
  frame.onload = () => {
    const asked = frame.contentWindow.performance.getEntriesByType("resource").map(e => e.name);
    found[page] = [frame.contentDocument.documentElement.scrollWidth, asked.filter(u => !u.startsWith(location.origin) && !u.startsWith("data:"))];
    next();
  };
  frame.src = page;
}
next();
</script>"""


def test_no_page_is_wider_than_a_phone_and_the_browser_asks_no_other_host(site, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium, which scripts/setup.sh test installs")
    pages = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html") if page.name != "404.html")
    found = queue.Queue()

    class Site(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path != "/phone":
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PHONE.replace("PAGES", json.dumps(pages)).encode())

        def do_POST(self):
            found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Site, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # A home of its own: what is there may be another's.
    running = subprocess.Popen([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--remote-debugging-port=0",
                                f"http://127.0.0.1:{server.server_port}/phone"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        seen = found.get(timeout=600)
    finally:
        running.terminate()
        running.wait()
        server.shutdown()
        server.server_close()
    assert len(seen) == len(pages) > 20
    assert {page: width for page, (width, _) in seen.items() if width > 390} == {}
    assert {page: asked for page, (_, asked) in seen.items() if asked} == {}
