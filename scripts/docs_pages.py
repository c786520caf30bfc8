"""For mkdocs: pages that are made of other files, and links that lead out of docs/.

- api/NAME.md for each public header: its opening comment as text, then what it declares.
- python.md is python/README.md.
- A link to a header leads to its page; a link to another file of the repository becomes its name.
"""
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/plimsoll"
LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+)([^)#\s]+)(#[^)]*)?\)")


def opening(lines):
    """The lines of the comment that a header opens with, without their slashes, and what follows it."""
    count = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return [line[2:].removeprefix(" ") for line in lines[:count]], lines[count:]


def as_text(comment):
    """Paragraphs; what is indented is code."""
    return "\n".join("    " + line if line.startswith("  ") else line for line in comment)


def header_page(header):
    name = header.relative_to(HEADERS).as_posix()
    comment, rest = opening(header.read_text().splitlines())
    noise = re.compile(r"#pragma (once|GCC visibility)|#include <")
    code = "\n".join(line for line in rest if not noise.match(line)).strip()
    return f"# plimsoll/{name}\n\n{as_text(comment)}\n\n```cpp\n{code}\n```\n"


def page_of(header):
    return "api/" + header.relative_to(HEADERS).as_posix().replace("/", "_") + ".md"


def on_files(files, config):
    for header in sorted(HEADERS.rglob("*.h")):
        files.append(File.generated(config, page_of(header), content=header_page(header)))
    files.append(File.generated(config, "python.md", content=(ROOT / "python/README.md").read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    here = pathlib.PurePosixPath(page.file.src_uri).parent
    base = "../" * len(here.parts)

    def replaced(match):
        text, path = match[1], match[3]
        inside = path.removeprefix("docs/") if page.file.src_uri == "python.md" else None
        if inside and (ROOT / "docs" / inside).exists():
            return f"[{text}]({inside}{match[4] or ''})"
        if path.startswith("include/plimsoll/"):
            return f"[{text}]({base}{page_of(ROOT / path)})"
        if (ROOT / "docs" / here / match[2] / path).resolve().is_relative_to(ROOT / "docs"):
            return match[0]
        return text if "`" in text else f"`{path}`"

    # pictures of python/README.md lie in docs/ too, so one rule serves both
    return LINK.sub(replaced, markdown)
