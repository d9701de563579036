"""The second stage of a split query: what all slots answered becomes what the query answers.

The solutions of the slots are rows, each visible at the one evaluation time that it belongs to; the operators
above them are those of any query (``plan.analysis.two_stages``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from weir.kernel.contract import Answers, Background
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.interval.compiler import Compiler
from weir.kernel.interval.query_forms import ANSWER, TRIPLE, Descriptions, QueryForms
from weir.kernel.operators.context import Surroundings
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.inputs.pattern_inputs import PatternInputs, StaticGraphs
from weir.kernel.operators.join import Policy, Router
from weir.kernel.operators.operator import Operator, seeded
from weir.kernel.relations.keys import firsts
from weir.kernel.relations.relation import Relation
from weir.kernel.windows.instants import Instants
from weir.kernel.windows.stream_state import Streams
from weir.language.algebra.query import Ask, Query
from weir.plan import nodes as p
from weir.plan.analysis.two_stages import Stages
from weir.plan.build import Builder
from weir.rdf.columns import Ids, Mask, sorted_set
from weir.rdf.ids.dictionary import Dictionary


class _Given(Operator):
    """The solutions of all slots."""

    def __init__(self, variables: tuple[str, ...]) -> None:
        self.variables = variables
        self.rows = Relation.empty(variables)

    def run(self) -> Relation:
        return self.rows

    def within(self, seed: Relation, key: str) -> Relation:
        return seeded(self.rows, seed, key)


class _Compiler(Compiler):
    """With what is ``given`` in the place of the values that have no rows."""

    given: _Given | None = None

    def compile(self, plan: p.Plan) -> Operator:
        if isinstance(plan, p.Values) and not plan.rows:
            self.given = _Given(plan.variables)
            return self.given
        return super().compile(plan)


def answers_of_all(stages: Stages, parts: Sequence[Answers], dictionary: Dictionary) -> Answers:
    """The answers of a query, given those of its slots to the first stage. All of them have come as far."""
    at = np.concatenate([part.at for part in parts])
    silent = np.concatenate([part.empty for part in parts])
    names = tuple(parts[0].columns)
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in names}
    order = np.argsort(at, kind="stable")
    ordered = at[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    times = ordered[starts]
    if len(silent):
        times = sorted_set(np.concatenate([times, silent]))
    if stages.second is not None:
        found = _evaluated(stages.second, times, at, columns, dictionary)
    elif isinstance(stages.first.form, Ask):
        truth = np.zeros(len(times), np.int64)
        np.maximum.at(truth, np.searchsorted(times, at), columns[ANSWER])
        found = times, {ANSWER: truth}
    else:
        kept = order[_once(order, starts, [len(part.at) for part in parts], ordered, columns)]
        found = at[kept], {name: columns[name][kept] for name in TRIPLE}
    asked = (stages.second or stages.first).semantics.report_empty
    empty = np.setdiff1d(times, found[0]) if asked else silent[:0]
    return Answers(found[0], found[1], empty, len(times))


def _once(order: Ids, starts: Ids, lengths: Sequence[int], ordered: Ids, columns: Mapping[str, Ids]) -> Mask:
    """Which rows, in the order of time, are the first of their triple in their evaluation. A slot has each
    once, so those of evaluations that one slot alone answered are not compared."""
    slot = np.searchsorted(np.cumsum(lengths), order, side="right")
    ends = np.append(starts, len(order))[1:]
    several = np.flatnonzero(np.repeat(slot[starts] != slot[ends - 1], ends - starts))
    rows = order[several]
    kept = np.ones(len(order), np.bool_)
    kept[several] = False
    each = [ordered[several], *(columns[name][rows] for name in TRIPLE)]
    kept[several[firsts(each, len(several))]] = True
    return kept


def _evaluated(
    query: Query, times: Ids, at: Ids, columns: dict[str, Ids], dictionary: Dictionary
) -> tuple[Ids, dict[str, Ids]]:
    """What the operators of the second stage make of solutions."""
    present = Present(Instants(times, np.ones(len(times), np.bool_)))
    graphs = StaticGraphs(query, Background(), dictionary)
    leaves = PatternInputs(present, graphs, Streams(), dictionary)
    terms = Terms(dictionary)
    router = Router(Policy.COST, Counter())
    compiler = _Compiler(leaves, router, Surroundings(present, ""), terms)
    root = compiler.compile(Builder({}, ()).build(query.pattern, p.Source()))
    index = np.searchsorted(times, at)
    optional = frozenset(name for name, column in columns.items() if not column.all())
    assert compiler.given is not None
    compiler.given.rows = Relation(columns, index, index + 1, optional)
    forms = QueryForms(query, "", terms, frozenset(), _no_descriptions)
    sent = forms.answers(root.run(), present.at)
    return times[sent.index], dict(sent.columns)


def _no_descriptions() -> Descriptions:
    raise AssertionError("a DESCRIBE has no second stage")
