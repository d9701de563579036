"""What ``weir explain --all`` says of a query set: states of the automaton, templates, what is shared.

A template's *constraints* are what its equal variables demand of the triples that match its patterns.
CTP-automata's Table 1 names ten of them by the places that must be equal in two triples: SS, PP, OO, SO,
OS, SSPP, SSOO, PPOO, SOPP, OSPP. Here a constraint is any set of such pairs of places, so that the other
combinations (SP, three at once, a variable twice in one pattern) are no special cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from weir.kernel.contract import Background
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.matching.join_order import PLACES, link
from weir.kernel.matching.shared import SharedEvaluator
from weir.language.algebra.query import Query
from weir.language.writing.windows import rspql
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.sharing import shape_key, together, why_alone

_MOST = 20


def explain_set_text(queries: Mapping[str, Query]) -> str:
    """A whole query set: who is evaluated with whom, and what keeps the others by themselves."""
    streams = tuple(dict.fromkeys(s for q in queries.values() for s in q.streams if isinstance(s, str)))
    keys = {name: shape_key(query) for name, query in queries.items()}
    shared = together(keys, {})
    evaluator = SharedEvaluator(Background(), Dictionary(), streams=streams)
    evaluator.add({name: queries[name] for name in queries if name in shared})
    lines = [f"{_count(len(queries), 'query', 'queries')}", *_parts(evaluator)]
    alone = [name for name in queries if name not in shared]
    if alone:
        lines += ["", f"by itself: {_count(len(alone), 'query', 'queries')}"]
        lines += [f"  {name}: {why_alone(queries[name]) or 'no other query of its shape'}" for name in alone]
    return "\n".join(lines) + "\n"


def _parts(shared: SharedEvaluator) -> Iterator[str]:
    """One block per set of conjunctions, then one per template."""
    for (window, semantics), generations in shared.sets.items():
        for generation in generations:
            yield ""
            yield f"conjunctions on <{window.stream}> {rspql(window)}, {semantics.r2s.name}"
            yield from (f"  {line}" for line in _set(generation.set))
    for template in shared.templates:
        yield ""
        count = _count(len(template), "query", "queries")
        yield f"template of {count}: {len(template.numbers)} different, evaluated once"
        parameters = len(template.shape.parameters)
        yield f"  {_count(parameters, 'constant', 'constants')} in a row of its table for each"
        yield f"  {_some(list(template.queries))}"
    for single in shared.singles:
        yield ""
        yield f"by itself: {single.name}: {single.reason}"


def _set(found: ConjunctiveSet) -> Iterator[str]:
    channels = found.channels
    statistics = found.statistics()
    patterns = sum(len(query.patterns) for query in channels.queries.values())
    yield (
        f"{_count(len(channels), 'query', 'queries')}, {statistics['channels']} different up to the names "
        "of variables; equal ones are evaluated once"
    )
    yield (
        f"automaton: {statistics['states']} states; {_count(patterns, 'triple pattern', 'triple patterns')} "
        f"share {_count(len(channels.matcher), 'machine', 'machines')}"
    )
    ends = channels.ends
    steps = int(channels.trie.steps(np.unique(ends)).sum())
    yield f"steps: {steps} of the different queries share {len(channels.trie)} nodes"
    shapes = {end: _shape(found, end) for end in np.unique(ends).tolist()}
    templates = Counter(shapes[end] for end in ends.tolist())
    yield f"templates: {len(templates)}, with the number of their queries"
    for template, count in templates.most_common(_MOST):
        yield f"  {count:6}  {template}"
    if len(templates) > _MOST:
        yield f"          and {len(templates) - _MOST} more"


def _shape(found: ConjunctiveSet, end: int) -> str:
    """A template's patterns, ``#`` for a constant, and its constraints by the names of Table 1."""
    machines, links = found.channels.trie.path(end)
    numbers: dict[tuple[int, int], int] = {}
    rows: list[list[int]] = []
    shown = []
    for step, machine in enumerate(machines.tolist()):
        symbols = found.channels.matcher.pattern(machine)
        row = []
        for place in range(PLACES):
            origin_step, origin_place = (int(part[0]) for part in link(links[step : step + 1], place))
            if symbols[place]:
                row.append(-1)
            elif origin_step >= 0:
                row.append(numbers[origin_step, origin_place])
            else:
                row.append(numbers.setdefault((step, place), len(numbers)))
        rows.append(row)
        shown.append("(" + " ".join("#" if number < 0 else f"?{number + 1}" for number in row) + ")")
    demands = ", ".join(constraints(rows))
    return " ".join(shown) + (f"   {demands}" if demands else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")


_PLACES = "SPO"
_TABLE_1 = ("SO", "OS", "SS", "PP", "OO")


def constraints(variables: Sequence[Sequence[int]]) -> list[str]:
    """The constraints of a query, pattern pair by pattern pair; those within one pattern come first.

    ``variables`` has a row per pattern: the number of the variable in each place, −1 for a constant.
    A pair of patterns that shares no variable gives none. Names beyond Table 1 are made in the same way.
    """
    every = range(len(variables))
    found = []
    for left, right in (*zip(every, every, strict=True), *combinations(every, 2)):
        equal = [
            _PLACES[one] + _PLACES[two]
            for one, mine in enumerate(variables[left])
            for two, yours in enumerate(variables[right])
            if mine >= 0 and mine == yours and (left != right or one < two)
        ]
        known = [pair for pair in _TABLE_1 if pair in equal]
        if equal:
            name = "".join([*known, *(pair for pair in equal if pair not in known)])
            found.append(f"m{left + 1}m{right + 1} → {name}")
    return found
