"""Whether an evaluator and the store have the same solutions, sighting by sighting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weir.kernel.contract import Background, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.language import parse
from weir.language.algebra.query import R2S, Query
from weir.rdf.ids.dictionary import Dictionary
from weir_bench.conference.blackbox import Solutions
from weir_bench.conference.queries import Template
from weir_bench.data.conference import RFID, Sightings

FILL = 3_200
"""Sightings before solutions are compared: more than the longest window holds."""


def everything(text: str, name: str) -> Query:
    """The query with all its solutions at every evaluation: a store has no ISTREAM."""
    query = parse(text, "cqels")
    return replace(query, semantics=replace(query.semantics, r2s=R2S.RSTREAM), output=name)


def agree(
    template: Template,
    text: str,
    background: Background,
    dictionary: Dictionary,
    stream: Sightings,
    expected: Sequence[Solutions],
) -> int:
    """How many solutions both find, the same ones at each evaluation time: R2S apart, as a store has none.
    Raises ``AssertionError`` where they differ; a query may also be evaluated between those times."""
    evaluator = IntervalEvaluator(everything(text, template.name), background, dictionary)
    count = FILL + len(expected)
    evaluator.advance(Slab({RFID: stream.batch(0, FILL)}, int(stream.time[FILL])))
    answers = evaluator.advance(Slab({RFID: stream.batch(FILL, count + 1)}, int(stream.time[count])))
    place = {at: number for number, at in enumerate(stream.time[FILL:count].tolist())}
    found: list[Solutions] = [set() for _ in expected]
    columns = [dictionary.texts(column) for column in answers.columns.values()]
    for at, *row in zip(answers.at.tolist(), *columns, strict=True):
        if at in place:
            found[place[at]].add(tuple(row))
    if found != list(expected):
        raise AssertionError(f"{template.name}: a slab has {found}, the store {list(expected)}")
    return sum(map(len, found))
