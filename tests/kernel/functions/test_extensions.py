"""Functions of an installed package, by both evaluators."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

import weir
from weir.extras import brought
from weir.kernel.functions.extensions import extensions

CODE = """
from decimal import Decimal
from weir.rdf.terms import IRI

def fahrenheit(celsius):
    return celsius * 9 / Decimal(5) + 32

def fails(value):
    raise ValueError("no")

MORE = {"http://e/f#shout": lambda text: text.upper(), "http://e/f#void": lambda *_: None,
        "http://e/f#half": lambda n: n / 2, "http://e/f#hot": lambda n: n > 21,
        "http://e/f#place": lambda n: IRI(f"http://e/at/{n}")}
"""
POINTS = """[weir.functions]
http://e/f#fahrenheit = weir_test_functions:fahrenheit
http://e/f#fails = weir_test_functions:fails
more = weir_test_functions:MORE
"""
QUERY = """PREFIX f: <http://e/f#> PREFIX : <http://e/>
SELECT (f:fahrenheit(?t) AS ?warm) (f:shout(?n) AS ?loud) (f:half(4) AS ?two) (f:hot(?t) AS ?hot)
  (f:place(7) AS ?place) (f:fails(?t) AS ?none) (f:void(?t) AS ?nothing) (f:shout(?s) AS ?wrong)
FROM NAMED WINDOW :w ON :s [NOW] WHERE { WINDOW :w { ?s :temp ?t ; :name ?n } }"""
LINES = """1000\t<http://e/a> <http://e/temp> "21.5"^^<http://www.w3.org/2001/XMLSchema#decimal> .
1000\t<http://e/a> <http://e/name> "hall" .
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package as pip leaves it: a module, and the entry points beside it."""
    (tmp_path / "weir_test_functions.py").write_text(CODE)
    told = tmp_path / "weir_test_functions-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: weir-test-functions\nVersion: 1\n")
    (told / "entry_points.txt").write_text(POINTS)
    (tmp_path / "s.tnq").write_text(LINES)
    monkeypatch.syspath_prepend(str(tmp_path))
    for known in (extensions, brought):
        known.cache_clear()
    yield tmp_path
    for known in (extensions, brought):
        known.cache_clear()


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_functions_take_and_give_values_of_python(installed: Path, evaluator: str) -> None:
    (row,) = weir.query(QUERY, {"http://e/s": installed / "s.tnq"}, evaluator=evaluator)
    assert {name: value for name, value in row.items() if name not in ("at", "op")} == {
        "warm": Decimal("70.7"),
        "loud": "HALL",
        "two": 2.0,
        "hot": True,
        "place": "http://e/at/7",
        "none": None,
        "nothing": None,
        "wrong": None,
    }


def test_a_function_that_nobody_brings_draws_a_warning(installed: Path) -> None:
    text = QUERY.replace("f:shout(?n)", "f:whisper(?n)")
    with pytest.warns(weir.WeirWarning, match="no function is called <http://e/f#whisper>"):
        (row,) = weir.query(text, {"http://e/s": installed / "s.tnq"})
    assert row["loud"] is None
