"""Loops that are compiled later: the same results, numba untouched until one is called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from weir.rdf import compiled
from weir.rdf.compiled import CompiledLater, is_up, njit


@njit()
def twice(number: int) -> int:
    """Twice a number."""
    return 2 * number


@njit()
def fourfold(number: int) -> int:
    return twice(twice(number))


def test_a_function_is_compiled_with_what_it_calls() -> None:
    assert isinstance(fourfold, CompiledLater)
    assert twice.__doc__ == "Twice a number."
    assert fourfold(3) == 12
    assert not isinstance(fourfold.made(), CompiledLater)
    assert not isinstance(globals()["twice"], CompiledLater)
    assert twice(4) == 8
    assert is_up()


@njit(over=("numbers",))
def total(numbers: NDArray[np.int64]) -> int:
    found = 0
    for place in range(len(numbers)):
        found += added(found, numbers[place])
    return found


@njit(over=())
def added(found: int, number: int) -> int:
    return number


def test_a_loop_with_little_to_do_is_run_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_UP", [])
    monkeypatch.setattr(compiled, "_taken", [0])
    monkeypatch.setattr(compiled, "PLAIN_STEPS", 20)
    assert total(np.arange(3)) == 3 and not is_up(), "3 steps, and 1 for each call"
    assert total(np.arange(30)) == 435 and is_up()
    assert not isinstance(globals()["added"], CompiledLater)
    assert total(np.arange(3)) == 3


LINES = """
import json
from weir.testing import Scenario

XSD = "http://www.w3.org/2001/XMLSchema#"
QUERIES = {
    "pairs": "SELECT DISTINCT ?a ?b { STREAM <http://e/s> [RANGE 3s] { ?a <http://e/in> ?r } "
    "STREAM <http://e/s> [RANGE 2s] { ?b <http://e/in> ?r } } ORDER BY ?a",
    "count": "SELECT ?r (COUNT(*) AS ?n) (AVG(?v) AS ?m) { STREAM <http://e/s> [RANGE 4s SLIDE 2s] "
    "{ ?a <http://e/in> ?r ; <http://e/v> ?v } } GROUP BY ?r HAVING(COUNT(*) > 1)",
    "left": "SELECT * { STREAM <http://e/s> [TRIPLES 5] { ?a ?p ?r } "
    "OPTIONAL { GRAPH <http://e/g> { ?r <http://e/next> ?t } } FILTER(STRLEN(STR(?r)) > 1) }",
}
graph = "".join(f"<http://e/r{n}> <http://e/next> <http://e/r{n // 2}> .\\n" for n in range(4))
lines = []
for n in range(20):
    lines.append(f"{200 * n}\\t<http://e/p{n % 7}> <http://e/v> \\"0{n - 9}\\"^^<{XSD}integer> .")
    lines.append(f"{200 * n}\\t<http://e/p{n % 7}> <http://e/in> <http://e/r{n * n % 5}> .")
run = Scenario(QUERIES, graphs={"http://e/g": graph}, streams=["http://e/s"], dialect="cqels")
for line in run.run(["\\n".join(lines)], "http://e/s"):
    print(json.dumps(line, sort_keys=True))
"""


def test_what_python_runs_gives_the_same_as_compiled_loops(tmp_path: Path) -> None:
    told = [
        run_python(f"import sys\n{first}\n{LINES}", tmp_path)
        for first in (
            "sys.modules['numba'] = None",
            "from weir.rdf import compiled; compiled._UP.append(True)",
        )
    ]
    assert told[0] == told[1] and len(told[0].splitlines()) > 100


HEAVY = {"explain": {"polars.dataframe", "asyncio", "pyarrow._compute", "weir.linked"}, "try": set()}
"""What one command does without beside the packages that none needs."""
NEVER = {"numba.core", "pyspark", "httpx._client", "rich.segment", "scipy", "pyarrow.parquet.core"}


@pytest.mark.parametrize("command", HEAVY)
def test_a_command_reads_only_the_packages_that_it_needs(command: str, tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text(
        "SELECT * { STREAM <s> [NOW] { ?s ?p ?o } GRAPH <g> { ?o ?q ?r } FILTER(?o != ?r) }"
    )
    (tmp_path / "s.tnq").write_text("1\t<http://e/s> <http://e/p> <http://e/o> .\n")
    (tmp_path / "g.nt").write_text("<http://e/o> <http://e/q> <http://e/r> .\n")
    files = ["--stream", "s=s.tnq", "--graph", "g=g.nt", "--format", "jsonl"] if command == "try" else []
    told = run_python(
        f"""if True:
        import sys
        from weir.cli.main import app
        app([{command!r}, "q.rq", *{files}], standalone_mode=False)
        print(sorted({HEAVY[command] | NEVER} & sys.modules.keys()))
        """,
        tmp_path,
    )
    assert told.splitlines()[-1] == "[]"
    assert "http://e/r" in told or command == "explain"


def run_python(program: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
