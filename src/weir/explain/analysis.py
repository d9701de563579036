"""``weir explain --analyze``: a query run over the beginning of its files, and what that took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weir.errors import EvaluationError
from weir.explain.one_query import chosen
from weir.kernel.contract import FailedAt, Slab
from weir.language.algebra.query import Query
from weir.linked.graphs import GraphSources
from weir.plan.analysis.demand import demands
from weir.plan.analysis.shares import EVERYWHERE, share, share_by_predicate
from weir.plan.analysis.split import BY_PREDICATE, MOST_TOLD, places_of, splitting
from weir.rdf.columns import Ids
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.runtime.control.failure import reason_of
from weir.runtime.ingest.matching import Selection
from weir.runtime.output.text_columns import timestamp

SLOTS = (2, 8, 32)
"""Numbers of slots for which ``analyze`` tells how a split query would be spread."""
SAMPLE = 1 << 26
"""The most bytes of a stream that ``analyze`` looks at."""


def analyze_text(
    query: Query, streams: Mapping[str, Path], graphs: GraphSources, routing: str = "cost"
) -> str:
    """The query run over the beginning of its ``.tnq`` files, without Spark: what was done, how often."""
    dictionary = Dictionary()
    static_graphs = graphs.open(dictionary)
    background = static_graphs.extract(query, tuple(streams))
    choice = chosen(query, background, dictionary, tuple(streams), routing)
    batches = {iri: _batch(path, dictionary) for iri, path in streams.items()}
    try:
        answers = choice.evaluator.advance(Slab(batches, through=0, end=True))
    except FailedAt as failed:
        when = timestamp(failed.time)
        raise EvaluationError(
            f"the query fails at {when}", detail=reason_of(failed.__cause__ or failed)
        ) from failed
    lines = [f"answers: {len(answers.at):,} in {answers.evaluations:,} evaluations"]
    lines += _counters(choice.evaluator.statistics())
    lines += _skew(query, batches, dictionary)
    return "== analysis ==\n" + "\n".join(lines)


def _skew(query: Query, batches: Mapping[str, Messages], dictionary: Dictionary) -> Iterator[str]:
    """How evenly the triples that a split query wants are spread over some numbers of slots."""
    split = splitting(query)
    place = split.place
    if place is None:
        return
    mixed = places_of(query, place) if place >= BY_PREDICATE else {}
    places = {dictionary.encode(each): at for each, at in mixed.items()}

    def held_by(messages: Messages, slots: int) -> Ids:
        if places:
            found = share_by_predicate(messages.quads, places, slots)
        else:
            found = share(messages.quads, place, slots)
        everywhere = found == EVERYWHERE
        own: Ids = np.bincount(found[~everywhere], minlength=slots) + np.sum(everywhere)
        return own

    wanted = demands(query, tuple(batches))
    found = [Selection(wanted.get(stream, ()), dictionary).of(each) for stream, each in batches.items()]
    for slots in (each for each in SLOTS if each <= MOST_TOLD or not split.few):
        held = sum(held_by(each, slots) for each in found)
        mean = float(np.sum(held)) / slots
        if mean:
            most = float(np.max(held)) / mean
            yield f"over {slots} slots: the fullest has {most:.2f} x the mean of {mean:,.0f} triples"


def _batch(path: Path, dictionary: Dictionary) -> Messages:
    with open(path, "rb") as file:
        data = file.read(SAMPLE)
        data += file.readline()
    found = parse_lines(data, scope=path.name, key=dictionary.key)
    for terms in found.terms:
        known = terms.ids > 0
        dictionary.add(terms.ids[known], terms.texts.filter(known).to_list())
    return found.messages.ordered()


def _counters(values: Mapping[str, Any], indent: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines.append(f"{indent}{name.replace('_', ' ')}:" + ("" if value else " none"))
            lines += _counters({str(key): each for key, each in value.items()}, indent + "    ")
        else:
            shown = f"{value:,}" if isinstance(value, int) else value
            lines.append(f"{indent}{name.replace('_', ' ')}: {shown if shown != [] else 'none'}")
    return lines
