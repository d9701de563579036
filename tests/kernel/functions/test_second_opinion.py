"""pyoxigraph asked for every function, operator and cast with the hostile arguments of ``test_hostile``.

Where it deviates from the specification the arguments or calls are listed with the reason, and only those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pyoxigraph
import pytest

from conformance.manifest import term
from conformance.results import numeric
from kernel.functions.test_hostile import CALLS, ROWS, scalar_values, shown
from weir.rdf.terms import XSD, BlankNode, Literal, Term

BASE = "http://base/"


def _is_number(each: Term, *datatypes: str) -> bool:
    return isinstance(each, Literal) and each.datatype in [XSD + name for name in datatypes]


ARGUMENTS: dict[str, Callable[[Term], bool]] = {
    "a blank node cannot be written into a query": lambda each: isinstance(each, BlankNode),
    "its integers have 64 bits, its decimals 18 digits, its years and durations as many": lambda each: (
        isinstance(each, Literal) and each.datatype != XSD + "string" and len(each.lexical.strip("-")) > 18
    ),
    "it keeps the value of a number, not its form; of floats it writes the decimal": lambda each: (
        isinstance(each, Literal) and (numeric(each) != each or "E38" in each.lexical)
    ),
    "it keeps the values of booleans, times and durations, not their forms": lambda each: (
        (isinstance(each, Literal) and each.lexical in ("0", "-PT0S") and not _is_number(each, "integer"))
        or (isinstance(each, Literal) and "-00:00" in each.lexical)
    ),
    "it takes integer types for integers, whatever their range": lambda each: _is_number(
        each, "byte", "unsignedLong"
    ),
    "it keeps the hour 24 as the hour 0": lambda each: "24:00:00" in str(each),
    "white space around a number is left out by a cast (17.5), it refuses it": lambda each: (
        each == Literal(" 1 ")
    ),
    "patterns and replacements have a limit in Weir": lambda each: len(str(each)) > 1_000,
}
"""Arguments with which it is not asked, and why."""


def _is_integer(each: Term) -> bool:
    return _is_number(each, "integer")


def _is_nan(each: Term) -> bool:
    return isinstance(each, Literal) and each.lexical == "NaN"


def _has_backslash(each: Term) -> bool:
    return isinstance(each, Literal) and "\\" in each.lexical


_WIDE = Literal(str(2**62), XSD + "integer")
CALLED: list[tuple[str, str, Callable[[Sequence[Term]], bool]]] = [
    (r"^<.*#(byte|int|long|short|\w+Integer|unsigned\w+)>", "it has no such cast", lambda row: True),
    (r"^<.*#g\w+>", "it casts times to parts of dates, which SPARQL does not say", lambda row: True),
    (
        r" [<>]=? ",
        "numbers compare with NaN as false (17.4.1.7), it fails",
        lambda row: any(map(_is_nan, row)),
    ),
    (
        r" [<>]=? ",
        "IRIs, tagged, ill-typed and unknown literals have no order (17.3); to it equal ones are equal",
        lambda row: len({*row}) == 1,
    ),
    (r"\?x [*+-] \?y", "its integers have 64 bits", lambda row: row.count(_WIDE) == 2),
    (
        r"\?x [-+] \?y",
        "it subtracts times and adds durations, which SPARQL does not say",
        lambda row: any(_is_number(each, "dateTime", "date", "time", "dayTimeDuration") for each in row),
    ),
    (
        r"\?x / \?y",
        "it cuts decimals after 18 digits where Weir rounds, and fails to divide zero",
        lambda row: all(_is_number(each, "integer", "decimal") for each in row),
    ),
    (r"^IRI", "a relative IRI is one of the base, which Weir leaves as it is", lambda row: True),
    (
        r"^REPLACE",
        "a pattern that matches nothing and a backslash alone are errors (fn:replace), not for it",
        lambda row: row[1] in map(Literal, ("", "*", "(a*)*b")) or _has_backslash(row[2]),
    ),
    (
        r"^SUBSTR",
        "it wants places as integers",
        lambda row: not all(map(_is_integer, row[1:])) or _WIDE in row,
    ),
    (r"^(TZ|TIMEZONE)", "SPARQL says it of dateTime alone, it of all dates", lambda row: True),
]
"""Calls and arguments for which its answer is not SPARQL's, and why."""


def asked(text: str, rows: Sequence[tuple[int, tuple[Term, ...]]]) -> dict[int, Term | None]:
    """What pyoxigraph says a call gives for each row."""
    names = " ".join(f"?{name}" for name in "xyz"[: len(rows[0][1])])
    data = " ".join(f"({place} {' '.join(map(str, row))})" for place, row in rows)
    query = f"SELECT ?row ?value {{ VALUES (?row {names}) {{ {data} }} BIND({text} AS ?value) }}"
    found: Any = pyoxigraph.Store().query(query, base_iri=BASE)
    return {
        int(each["row"].value): None if each["value"] is None else numeric(term(each["value"]))
        for each in found
    }


def is_asked(text: str, row: Sequence[Term]) -> bool:
    return not any(re.search(call, text) and holds(row) for call, _, holds in CALLED)


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_pyoxigraph_agrees(arity: int) -> None:
    known = [
        (place, row)
        for place, row in enumerate(ROWS[arity])
        if not any(holds(each) for each in row for holds in ARGUMENTS.values())
    ][:: 4 if arity == 2 else 1]
    compared = 0
    for text in CALLS[arity]:
        rows = [each for each in known if is_asked(text, each[1])]
        found, expected = asked(text, rows) if rows else {}, scalar_values(text, arity)
        for place, row in rows:
            value = numeric(expected[place])
            assert found[place] == value, (text, shown((*row, value, found[place])))
        compared += len(rows)
    assert compared > 1_000


def test_every_reason_is_one_of_some_row() -> None:
    for holds in ARGUMENTS.values():
        assert any(holds(each) for (each,) in ROWS[1])
    for call, _, concerns in CALLED:
        assert any(
            re.search(call, text) and concerns(row)
            for arity in CALLS
            for text in CALLS[arity]
            for row in ROWS[arity]
        )
