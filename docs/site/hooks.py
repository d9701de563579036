"""What the documentation site makes of the repository while it is built.

- Pages that stand at the top of the repository (README, CONTRIBUTING, …) become pages of the site.
- A link to a source file leads to a page that shows it, so the site needs no address of a repository.
- The references of the command line and of the HTTP API are made from the program itself.
"""

from __future__ import annotations

import posixpath
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from weir.cli.main import COMMANDS, app
from weir.server.api.application import build
from weir.server.service import Service
from weir.server.settings import Settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
AT_THE_TOP = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "licence.md",
}
"""Pages outside of ``docs``, and where they stand on the site."""

_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
_FENCE = re.compile(r"^```(\w+)((?: \w+=\S+)*)( fragment)?$", re.MULTILINE)
_LEXERS = {
    "rspql": "sparql",
    "cqels": "sparql",
    "csparql": "sparql",
    "sparqlstream": "sparql",
    "turtle": "turtle",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    for name, uri in AT_THE_TOP.items():
        files.append(File.generated(config, uri, content=_moved(ROOT / name, uri)))
    for source in sorted(_linked_sources()):
        uri = _source_page(source)
        files.append(File.generated(config, uri, content=_listing(source)))
    files.append(File.generated(config, "reference/cli.md", content="\n".join(_command_line())))
    files.append(File.generated(config, "reference/http.md", content="\n".join(_http())))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links and fences of a page as the site understands them."""
    uri = page.file.src_uri
    if uri.startswith("source/"):
        return markdown
    path = DOCS / uri
    return _fences(_relinked(markdown, path, uri) if path.exists() else markdown)


def _moved(path: Path, uri: str) -> str:
    text = path.read_text()
    return _relinked(text, path, uri) if path.suffix == ".md" else f"# Licence\n\n```text\n{text}\n```\n"


def _relinked(text: str, path: Path, uri: str) -> str:
    """The text with its links as seen from the page ``uri``; ``path`` is the file it comes from."""

    def target(match: re.Match[str]) -> str:
        link = match[2]
        if re.match(r"[a-z]+:", link):
            return match[0]
        there = (path.parent / link).resolve()
        if not there.is_relative_to(ROOT):
            return match[0]
        relative = there.relative_to(ROOT).as_posix()
        if relative in AT_THE_TOP:
            page = AT_THE_TOP[relative]
        elif there.is_relative_to(DOCS):
            page = there.relative_to(DOCS).as_posix()
        elif there.is_file():
            page = _source_page(there)
        else:
            return match[0]
        return f"{match[1]}{posixpath.relpath(page, posixpath.dirname(uri) or '.')}{match[3] or ''}{match[4]}"

    return _LINK.sub(target, text)


def _fences(text: str) -> str:
    """Fenced blocks with a highlighter that is known, and with the name of the file they are written to."""

    def fence(match: re.Match[str]) -> str:
        options = dict(part.split("=", 1) for part in match[2].split())
        title = f' title="{options["file"]}"' if "file" in options else ""
        return f"```{_LEXERS.get(match[1], match[1])}{title}"

    return _FENCE.sub(fence, text)


def _linked_sources() -> set[Path]:
    found = set()
    for page in [*DOCS.rglob("*.md"), *(ROOT / name for name in AT_THE_TOP)]:
        for link in _LINK.findall(page.read_text()):
            there = (page.parent / link[1]).resolve()
            outside = there.is_relative_to(ROOT) and not there.is_relative_to(DOCS)
            if outside and there.is_file() and there.relative_to(ROOT).as_posix() not in AT_THE_TOP:
                found.add(there)
    return found


def _source_page(path: Path) -> str:
    return f"source/{path.relative_to(ROOT).as_posix()}.md"


def _listing(path: Path) -> str:
    language = {".py": "python", ".md": "markdown", ".toml": "toml"}.get(path.suffix, "text")
    name = path.relative_to(ROOT).as_posix()
    return f'# {path.name}\n\n`{name}`\n\n`````{language} linenums="1"\n{path.read_text()}\n`````\n'


def _command_line() -> Iterator[str]:
    yield "# Command line\n\nWhat each command says with `--help`, as a table.\n"
    group = typer.main.get_command(app)
    context = typer.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)  # type: ignore[attr-defined]
        yield f"## weir {name}\n\n{_plain(command.help or '')}\n"
        yield "| option | meaning |\n|---|---|"
        for parameter in command.params:
            about = _plain(getattr(parameter, "help", "") or "").replace("\n", " ")
            names = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
            if parameter.param_type_name == "argument":
                names = f"`{parameter.name.upper()}`"
            yield f"| {names} | {_cell(about)} |"
        yield ""


def _http() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        description = build(Service(Settings(data=Path(folder)))).openapi()
    yield "# HTTP API\n\nMade from the description that a running service gives at `/openapi.json`.\n"
    groups: dict[str, list[str]] = {}
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            lines = [
                f"### {method.upper()} `{path}`\n",
                operation.get("description", operation.get("summary", "")),
                "",
            ]
            lines += _parameters(operation)
            groups.setdefault(operation.get("tags", ["other"])[0], []).extend(lines)
    for tag, lines in groups.items():
        yield f"## {tag.capitalize()}\n"
        yield from lines


def _parameters(operation: dict[str, Any]) -> Iterator[str]:
    parameters = operation.get("parameters", [])
    if parameters:
        yield "| parameter | in | meaning |\n|---|---|---|"
        for each in parameters:
            yield f"| `{each['name']}` | {each['in']} | {_cell(each.get('description', ''))} |"
        yield ""


def _plain(text: str) -> str:
    """Help without the markup of the terminal, and no longer than what stands before an escape."""
    return re.sub(r"\[/?[a-z ]+\]", "", text).replace("\b", "").strip()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
