"""The source as it is written: modules, doors and imports, read with ``ast``, nothing imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from shared import ROOT

SOURCE = ROOT / "src"
TESTS = ROOT / "tests"
SMALL = 80
"""Lines up to which a module needs no test module of its own."""


@dataclass(frozen=True)
class Import:
    """``from module import name``, or ``import module`` with an empty name."""

    module: str
    name: str
    line: int


@dataclass(frozen=True)
class Module:
    """One file of the source."""

    name: str
    path: Path
    package: bool
    lines: int
    tree: ast.Module = field(repr=False)

    @property
    def room(self) -> str:
        """The package that it belongs to; a package is its own."""
        return self.name if self.package else self.name.rpartition(".")[0]

    @property
    def imports(self) -> Iterator[Import]:
        """Every import in it, wherever it stands."""
        return imports_of(self.tree)

    @property
    def door(self) -> list[str]:
        """``__all__``."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return list(ast.literal_eval(node.value))
        return []


def imports_of(tree: ast.Module) -> Iterator[Import]:
    """Every import of a parsed file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (Import(node.module or "", each.name, node.lineno) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (Import(each.name, "", node.lineno) for each in node.names)


def read(folder: Path) -> dict[str, Module]:
    """The modules below a folder that is on the path, by name."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text()
        parts = path.relative_to(folder).with_suffix("").parts
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found[name] = Module(name, path, package, text.count("\n"), ast.parse(text))
    return found


@cache
def source() -> dict[str, Module]:
    """The modules of ``src/weir``, by name."""
    return read(SOURCE)


def rooms(modules: dict[str, Module]) -> dict[str, list[Module]]:
    """The modules that lie flat in each package, the top one left out."""
    found: dict[str, list[Module]] = {name: [] for name, module in modules.items() if module.package}
    for module in modules.values():
        if not module.package:
            found[module.room].append(module)
    found.pop("weir", None)
    return found


def past_doors(modules: dict[str, Module]) -> Iterator[tuple[str, str]]:
    """Imports that reach past a door, as (room reached into, what is said about it).

    A module may use its own package, the modules of every package around it, and of any other room what
    its door names: a name that ``__init__`` imports, or a public module.
    """
    for module in modules.values():
        for each in module.imports:
            target = f"{each.module}.{each.name}" if f"{each.module}.{each.name}" in modules else each.module
            if target not in modules:
                continue
            if modules[target].package:
                room, name = target, each.name if target == each.module else ""
            else:
                room, _, name = target.rpartition(".")
            inside = f"{module.room}.".startswith(f"{room}.")
            if name and room != "weir" and not inside and name not in modules[room].door:
                yield room, f"{module.name}:{each.line} imports {each.name or target} past the door of {room}"


def behind(modules: dict[str, Module], each: Import) -> Iterator[str]:
    """The modules that an import brings in: the one named, and the one that a door's name comes from."""
    yield each.module
    yield f"{each.module}.{each.name}"
    room = modules.get(each.module)
    if room is not None and room.package:
        for inner in room.imports:
            if inner.name == each.name:
                yield from behind(modules, inner)


def mirror(module: Module) -> Path:
    """Where the tests of a module are: the same path below ``tests``."""
    inside = module.path.relative_to(SOURCE / "weir")
    return TESTS / inside.with_name(f"test_{inside.name}")


def lacks_tests(modules: dict[str, Module], module: Module) -> str:
    """Why a module has no tests of its own, or nothing: a test asserts something about a name that comes from
    the module. (``test_mutation.py`` proves that the assertion depends on it.)"""
    path = mirror(module)
    place = path.relative_to(ROOT)
    if not path.exists():
        return f"{place} is missing"
    tree = ast.parse(path.read_text())
    imported = [each for each in imports_of(tree) if module.name in behind(modules, each)]
    if not imported:
        return f"{place} does not import {module.name}"
    if not any(_asserts(node) for node in reached(tree, {_bound(tree, each) for each in imported})):
        return f"{place} asserts nothing about {', '.join(sorted(each.name for each in imported))}"
    return ""


def used_names(modules: dict[str, Module], module: Module) -> set[str]:
    """What a test module uses of its module: names that it imports from there, or through a door, and
    attributes of the module where that is imported itself."""
    tree = ast.parse(mirror(module).read_text())
    found = set()
    for each in imports_of(tree):
        if module.name == f"{each.module}.{each.name}":
            alias = _bound(tree, each)
            found |= {
                node.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and ast.unparse(node.value) == alias
            }
        elif module.name in behind(modules, each):
            found.add(each.name)
    return found


def _bound(tree: ast.Module, each: Import) -> str:
    """The name under which an import is known in a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import) and node.lineno == each.line:
            for alias in node.names:
                if alias.name in (each.name, each.module):
                    return (alias.asname or alias.name).partition(".")[0]
    return each.name


def reached(tree: ast.Module, names: set[str]) -> list[ast.FunctionDef]:
    """The tests of a file that use one of these names, directly or by way of other definitions of the file:
    functions, fixtures, constants, parameters."""
    known = set(names)
    while True:
        more = {
            name
            for node in tree.body
            for name in _names(node)
            if name not in known and _mentions(node, known)
        }
        if not more:
            break
        known |= more
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and _mentions(node, known)
    ]


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in names)
        or (isinstance(each, ast.arg) and each.arg in names)
        or (isinstance(each, ast.Constant) and each.value in names)
        for each in ast.walk(node)
    )


def _asserts(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Assert) or _raises(each) for each in ast.walk(node))


def _raises(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("raises")


def pages() -> list[Path]:
    """Every page of the documentation."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def slug_of(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """The anchors of a page; a heading that comes again gets a number."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE):
        slug = slug_of(heading)
        taken = [slug, *(f"{slug}-{number}" for number in range(1, 20))]
        found.add(next(name for name in taken if name not in found))
    return found


def broken_links(page: Path) -> Iterator[str]:
    """Relative links of a page that lead nowhere."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def named(path: Path) -> set[str]:
    """What a module defines: functions, classes, constants, and ``Class.member``."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        for name in _names(node):
            found.add(name)
            if isinstance(node, ast.ClassDef):
                found |= {f"{name}.{member}" for inner in node.body for member in _names(inner)}
    return found


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return [name]
        case ast.Assign(targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(ast.Name(name)):
            return [name]
    return []


def wrong_names(page: Path) -> Iterator[str]:
    """Links like ``[`Class.method`](…/module.py)`` whose module does not define what they name."""
    for name, link in re.findall(r"\[`([\w.]+)`\]\(([^)\s#]+\.py)\)", page.read_text()):
        target = page.parent / link
        if target.exists() and name != target.name and name not in named(target):
            yield f"{name} in {link}"


def wrong_paths(page: Path) -> Iterator[str]:
    """Paths in code spans, below ``src/weir`` or from the top of the repository, that are not there."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    top = {path.name for path in (SOURCE / "weir").iterdir() if path.is_dir()}
    for span in re.findall(r"(?<!`)`([\w./-]+)`(?!`)", text):
        first = span.partition("/")[0]
        if "/" in span and first in top:
            place = SOURCE / "weir" / span
        elif "/" in span and first in ("src", "tests", "docs", "benchmarks"):
            place = ROOT / span
        else:
            continue
        if not place.exists() and not place.with_name(f"{place.name}.py").exists():
            yield span


def links_of(text: str) -> list[str]:
    """The targets of links, without their anchors."""
    return re.findall(r"\]\(([^)#\s]+)", text)


def section(page: Path, anchor: str) -> str:
    """The text under a heading, up to the next one."""
    for part in re.split(r"^#+ ", page.read_text(), flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        if slug_of(heading) == anchor:
            return text
    return ""


def hops(page: Path) -> Iterator[tuple[str, str, str]]:
    """The rows of the reader's test: a task and its two links."""
    for row in section(page, "the-readers-test").splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        links = [re.findall(r"\]\(([^)\s]+)\)", cell) for cell in cells]
        if len(cells) == 3 and len(links[1]) == len(links[2]) == 1:
            yield cells[0], links[1][0], links[2][0]


def points(record: Path) -> set[int]:
    """The numbered points of a decision record."""
    return {int(number) for number in re.findall(r"^(\d+)\. ", record.read_text(), flags=re.MULTILINE)}


def unresolved(text: str) -> Iterator[str]:
    """Citations in a source file that no page answers.

    ``docs/…`` is a path of this repository, followed by the heading of a section in quotes or by nothing.
    ``decision NAME, N`` is point N of ``docs/decisions/*-NAME.md``;
    several points are written ``1, 2 and 5 to 8``.
    """
    flat = re.sub(r"\s+#?\s*", " ", text)
    for path in re.findall(r"\bdocs/[\w./-]*\w", flat):
        if not (ROOT / path).exists():
            yield path
    for path, heading in re.findall(r'\b(docs/[\w./-]*\.md), "([^"]+)"', flat):
        if (ROOT / path).exists() and slug_of(heading) not in anchors(ROOT / path):
            yield f'{path}, "{heading}"'
    for name, numbers in re.findall(r"\bdecision ([a-z]+(?:-[a-z]+)*)((?:(?:, | and | to |–)\d+)*)", flat):
        records = list((ROOT / "docs" / "decisions").glob(f"*-[0-9][0-9]-{name}.md"))
        if len(records) != 1:
            yield f"decision {name}"
        elif lacking := {int(each) for each in re.findall(r"\d+", numbers)} - points(records[0]):
            yield f"decision {name}, {sorted(lacking)}"
    yield from re.findall(
        r"\b(?:DESIGN|SEMANTICS|STYLE)(?:\.md|, )|(?i:\bdecisions on \w+|\brecord on \w+)", flat
    )
    yield from re.findall(r"(?i:\bdecision record\b[^.]{0,20}|\(record, \d[^)]*\))", flat)


def sources_of_text() -> Iterable[Path]:
    """The Python files whose citations are checked."""
    folders = (SOURCE, ROOT / "benchmarks", TESTS, ROOT / "examples")
    return [path for folder in folders for path in sorted(folder.rglob("*.py"))]
