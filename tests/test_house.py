"""The house: rooms with doors, one name for one thing, tests that mirror the source, citations that resolve.

Everything here reads the source as text.
"""

from __future__ import annotations

import re
import statistics
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from house_kit import (
    ROOT,
    SMALL,
    Module,
    broken_links,
    hops,
    lacks_tests,
    links_of,
    pages,
    past_doors,
    read,
    rooms,
    section,
    source,
    sources_of_text,
    unresolved,
    wrong_names,
    wrong_paths,
)

FLAT = 15
"""Files that a room may have flat, its door among them; more need sub-rooms."""
LONG = 450
"""Lines of a module; past that there are two ideas in it."""
MEDIAN = (120, 200)
"""Lines of a file in the middle: neither crumbs nor lumps."""
WIDE = 12
"""Names of a door."""


@dataclass(frozen=True)
class Role:
    """Names that several rooms share because each has its part of one thing."""

    reason: str
    rooms: tuple[str, ...]
    names: tuple[str, ...]

    def takes(self, module: str) -> bool:
        room, _, name = module.rpartition(".")
        return name in self.names and any(f"{room}.".startswith(f"weir.{each}.") for each in self.rooms)


SAME_ROLE = (
    Role(
        "the same part of a query at each step from text to answers",
        ("rdf", "language", "plan", "kernel.matching", "kernel.reference", "explain"),
        ("durations", "expressions", "patterns", "queries", "terms", "windows"),
    ),
    Role(
        "the same part of each of the two evaluators",
        ("kernel",),
        ("evaluator", "query_forms", "reports"),
    ),
    Role("a command and what it runs", ("cli", "spark"), ("load", "rescale")),
)


def held(broken: dict[str, list[str]]) -> None:
    """A rule is broken nowhere."""
    assert not broken, "\n" + "\n".join(f"{key}: {line}" for key in sorted(broken) for line in broken[key])


def grouped(pairs: object) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for key, line in pairs:  # type: ignore[attr-defined]
        found[key].append(line)
    return found


def test_no_room_is_crowded() -> None:
    broken = {
        name: [f"{len(modules) + 1} files flat"]
        for name, modules in rooms(source()).items()
        if len(modules) >= FLAT
    }
    held(broken)


def test_no_module_is_long() -> None:
    broken = {name: [f"{module.lines} lines"] for name, module in source().items() if module.lines > LONG}
    held(broken)


def test_files_are_of_a_size() -> None:
    least, most = MEDIAN
    assert least <= statistics.median(module.lines for module in source().values()) <= most


def test_doors_are_narrow_and_name_what_is_there() -> None:
    broken: dict[str, list[str]] = defaultdict(list)
    modules = source()
    for room in rooms(modules):
        door = modules[room].door
        if len(door) > WIDE:
            broken[room].append(f"a door of {len(door)} names")
        there = {each.name for each in modules[room].imports}
        absent = [name for name in door if name not in there and f"{room}.{name}" not in modules]
        if absent:
            broken[room].append(f"names what is not there: {', '.join(absent)}")
    held(broken)


def test_doors_only_document_and_export() -> None:
    import_or_text = ("Import", "ImportFrom", "Expr")
    broken = {
        room: [f"{type(node).__name__} in line {node.lineno}"]
        for room in rooms(source())
        for node in source()[room].tree.body
        if type(node).__name__ not in import_or_text
        and not (type(node).__name__ == "Assign" and source()[room].door)
    }
    held(broken)


def test_nobody_reaches_past_a_door() -> None:
    held(grouped(past_doors(source())))


def test_a_name_is_one_module() -> None:
    named: dict[str, list[str]] = defaultdict(list)
    for module in source().values():
        if not module.package and module.name != "weir.__main__":
            named[module.name.rpartition(".")[2]].append(module.name)
    broken = {}
    for name, modules in named.items():
        apart = {next((role.reason for role in SAME_ROLE if role.takes(each)), each) for each in modules}
        if len(apart) > 1:
            broken[name] = [", ".join(modules)]
    held(broken)


@pytest.mark.parametrize("role", SAME_ROLE, ids=lambda role: role.reason)
def test_a_role_is_shared(role: Role) -> None:
    taken = [name.rpartition(".")[2] for name in source() if role.takes(name)]
    assert [name for name in role.names if taken.count(name) < 2] == []


def test_every_module_has_its_tests() -> None:
    modules = source()
    lacking = (
        (module.room, reason)
        for module in modules.values()
        if not module.package and module.lines > SMALL and (reason := lacks_tests(modules, module))
    )
    held(grouped(lacking))


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(broken_links(page))


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_functions_that_pages_name_exist(page: Path) -> None:
    assert not list(wrong_names(page))


def test_the_readers_test_passes() -> None:
    """Hop 1 is a section of a page, and that section has the link to the file of hop 2."""
    page = ROOT / "docs" / "architecture.md"
    tasks = [row for row in hops(page) if row]
    assert len(tasks) >= 10
    for task, first, second in tasks:
        path, _, anchor = first.partition("#")
        there = (page.parent / path).resolve()
        links = {(there.parent / link).resolve() for link in links_of(section(there, anchor))}
        assert (page.parent / second).resolve() in links, task


def test_the_glossary_names_rooms() -> None:
    rows = re.findall(r"^\| \*\*.*\| (.+) \|$", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    assert len(rows) > 50
    rooms_named = {room for row in rows for room in re.findall(r"`([^`]+)`", row)}
    assert not [room for room in rooms_named if f"weir.{room.replace('/', '.')}" not in source()]


def test_paths_that_pages_name_exist() -> None:
    wrong = ((str(page.relative_to(ROOT)), path) for page in pages() for path in wrong_paths(page))
    held(grouped(wrong))


def test_citations_resolve() -> None:
    found = (
        (str(path.relative_to(ROOT)), citation)
        for path in sources_of_text()
        if path.name not in ("house_kit.py", "test_house.py")
        for citation in unresolved(path.read_text())
    )
    held(grouped(found))


PASSING = ("weir.testing", "weir.server.api.graph_routes", "weir.spark.session")
"""Modules whose files are gone when they are done with them."""


def test_what_lasts_goes_through_storage() -> None:
    """Nobody else writes, renames, syncs or removes a file."""
    calls = re.compile(
        r"os\.(replace|rename|f?d?a?t?a?sync|link|f?truncate)\(|\.(write_text|write_bytes|touch|unlink)\("
        r"|shutil\.move\(|\bopen\([^)]*[\"'][wax]b?[\"']"
    )
    found = (
        (module.name, f"line {number}: {line.strip()}")
        for module in source().values()
        if not f"{module.name}.".startswith("weir.storage.") and module.name not in PASSING
        for number, line in enumerate(module.path.read_text().splitlines(), 1)
        if calls.search(line)
    )
    held(grouped(found))


def test_what_is_parsed_goes_through_the_guarded_parser() -> None:
    """``sparql_process`` reads results that Weir has just written, in a process that may die."""
    root = Path(__file__).parents[1] / "src" / "weir"
    calls = re.compile(r"\box\.(?:parse|parse_query_results|serialize)\(")
    found = {path.name for path in root.rglob("*.py") if calls.search(path.read_text(encoding="utf-8"))}
    assert found == {"guarded_parser.py", "sparql_process.py"}


def test_only_spark_imports_pyspark() -> None:
    guilty = [
        f"{module.name}:{each.line}"
        for module in source().values()
        for each in module.imports
        if each.module.split(".")[0] == "pyspark" and not f"{module.name}.".startswith("weir.spark.")
    ]
    assert not guilty


def test_the_contracts_leave_no_room_out() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contracts = {contract["name"]: contract for contract in settings["contracts"]}
    there = {name for name in source() if name.count(".") == 1} - {"weir.__main__"}
    assert set(contracts["only the room spark imports pyspark"]["source_modules"]) == there - {"weir.spark"}
    ladder = contracts["the ladder: a room imports only the steps above it"]
    assert ladder["containers"] == ["weir"] and ladder["exhaustive"]


def example(folder: Path, files: dict[str, str]) -> dict[str, Module]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read(folder)


def test_reaching_past_a_door_is_seen(tmp_path: Path) -> None:
    modules = example(
        tmp_path,
        {
            "weir/__init__.py": "",
            "weir/low/__init__.py": "from weir.low.inner import Given, Kept\n__all__ = ['Given', 'words']\n",
            "weir/low/inner.py": "",
            "weir/low/words.py": "from weir.low.inner import Kept\n",
            "weir/low/deep/__init__.py": "",
            "weir/low/deep/hall.py": "from weir.low.inner import Kept\n",
            "weir/high/__init__.py": "",
            "weir/high/fair.py": "from weir.low import Given, words\nfrom weir.low.words import Any\n",
            "weir/high/foul.py": "from weir.low.inner import Given\nfrom weir.low import Kept\n"
            "import weir.low.inner\n",
        },
    )
    assert [(room, line.split()[0]) for room, line in past_doors(modules)] == [
        ("weir.low", "weir.high.foul:1"),
        ("weir.low", "weir.high.foul:2"),
        ("weir.low", "weir.high.foul:3"),
    ]


def test_a_name_that_a_module_lacks_is_seen(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("LIMIT = 3\n\nclass Made:\n    def of(self): ...\n")
    page = tmp_path / "page.md"
    page.write_text("[`Made.of`](made.py), [`LIMIT`](made.py), [`made.py`](made.py), [`Made.off`](made.py)\n")
    assert list(wrong_names(page)) == ["Made.off in made.py"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("see docs/guide/concepts.md", []),
        ('(docs/semantics.md, "What is\n  sent out")', []),
        ('(docs/semantics.md, "Lost")', ['docs/semantics.md, "Lost"']),
        ("see docs/guide/nowhere.md", ["docs/guide/nowhere.md"]),
        ("(decision semantics-time, 31, 33 and 34)", []),
        ("(decision semantics-time, 1\n    to 5)", []),
        ("(decision semantics-time, 310)", ["decision semantics-time, [310]"]),
        ("(decision semantics-tide, 3)", ["decision semantics-tide"]),
        ("(SEMANTICS.md)", ["SEMANTICS.md"]),
        ("(record on time, 5)", ["record on time"]),
    ],
)
def test_a_citation_that_leads_nowhere_is_seen(text: str, wrong: list[str]) -> None:
    assert list(unresolved(text)) == wrong
