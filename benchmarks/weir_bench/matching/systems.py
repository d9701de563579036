"""The systems that ``weir bench matching`` compares, each timed in the same way on the same triples.

Times are CPU seconds of the one thread that every system here uses, so that other work on the machine does
not count. Every system gives its results as references to the triples that made them.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weir.kernel.contract import Background, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.matching.automaton import Matcher
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.matching.join_order import Conjunctions, encode
from weir.language.algebra.patterns import TriplePattern
from weir.language.algebra.query import Query
from weir.plan.analysis.conjunctions import Conjunction, conjunction
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.ids.encoding import encode_texts
from weir.rdf.messages import Messages
from weir_bench.data.energy import STREAM, Energy
from weir_bench.matching.hashmat import HashMat, Texts, texts_of
from weir_bench.matching.queries import query

Patterns = tuple[TriplePattern, ...]
SLAB = 40_000


@dataclass(frozen=True, slots=True)
class Speed:
    """Triples and results per second; ``results`` is per triple, counting each query's own."""

    triples: float
    results: float

    @property
    def delivered(self) -> float:
        return self.triples * self.results


def mean(runs: Sequence[Speed]) -> Speed:
    """The mean of several runs, by the time that a triple takes."""
    return Speed(len(runs) / sum(1 / each.triples for each in runs), runs[0].results)


@dataclass(frozen=True)
class Data:
    """The stream, encoded once for all systems."""

    energy: Energy

    @cached_property
    def columns(self) -> tuple[Ids, Ids, Ids]:
        return self.energy.columns()

    @cached_property
    def triples(self) -> NDArray[np.int64]:
        return np.ascontiguousarray(np.stack(self.columns, axis=1))

    @cached_property
    def coded(self) -> NDArray[np.int64]:
        """Triples as numbers of terms, counted from 1, for StringMat."""
        energy = self.energy
        return np.stack([energy.subject + 1, energy.predicate + 1, energy.object + 1], axis=1)

    @cached_property
    def texts(self) -> Texts:
        return texts_of(self.energy.terms)

    @cached_property
    def code_of(self) -> tuple[Ids, Ids]:
        """Ids in order, and the number of the term of each."""
        ids = encode_texts(self.energy.terms)
        order = np.argsort(ids)
        return ids[order], order + 1

    def slab(self, first: int, stop: int) -> Slab:
        """Triples ``first`` to ``stop``, each a message of its own."""
        count = stop - first
        none, each = np.zeros(count, np.int64), np.arange(count)
        s, p, o = (column[first:stop] for column in self.columns)
        batch = Messages(self.energy.time[first:stop], np.ones(count, np.int64), each, none, s, p, o, none)
        return Slab({STREAM: batch}, int(self.energy.time[stop - 1]) + 1)


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call, with nothing left to collect from before."""
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def conjunctions(queries: Sequence[Query]) -> list[tuple[str, Conjunction]]:
    """Parsed queries as conjunctions with names."""
    out = []
    for number, each in enumerate(queries):
        found = conjunction(each)
        assert isinstance(found, Conjunction), found
        out.append((f"q{number}", found))
    return out


def build_set(queries: Sequence[Query]) -> ConjunctiveSet:
    """Weir's set from parsed queries, ready to run."""
    found = conjunctions(queries)
    together = ConjunctiveSet(found[0][1].window, queries[0].semantics)
    together.add(found, Dictionary())
    _ = together.channels.trie.layout, together.channels.by_node
    return together


def build_automaton(queries: Sequence[Query]) -> Matcher:
    """Weir's automaton alone."""
    encoded, _ = encode([each for _, each in conjunctions(queries)], Dictionary())
    matcher = Matcher()
    matcher.add(encoded.symbols)
    return matcher


def build_hashmat(queries: Sequence[Query]) -> HashMat:
    """The paper's automaton, lists of users and constraints, on numbers."""
    encoded, _ = encode([each for _, each in conjunctions(queries)], Dictionary())
    return HashMat(encoded)


def build_stringmat(queries: Sequence[Query], data: Data) -> HashMat:
    """The same on texts."""
    encoded, _ = encode([each for _, each in conjunctions(queries)], Dictionary())
    ids, codes = data.code_of
    coded = codes[np.minimum(np.searchsorted(ids, encoded.symbols), len(ids) - 1)]
    symbols = np.where(encoded.symbols == 0, 0, coded)
    return HashMat(Conjunctions(encoded.offsets, symbols, encoded.variables), data.texts)


def run_set(together: ConjunctiveSet, data: Data, warm: int, count: int, slab: int = SLAB) -> Speed:
    """Weir's kernel over ``count`` triples after ``warm`` others that fill the window."""
    for first in range(0, warm, slab):
        together.advance(data.slab(first, min(first + slab, warm)))
    delivered = 0
    spent = 0.0
    for first in range(warm, warm + count, slab):
        given = data.slab(first, min(first + slab, warm + count))
        gc.collect()
        began = time.process_time()
        answers = together.advance(given)
        spent += time.process_time() - began
        delivered += answers.delivered
    return Speed(count / spent, delivered / count)


def run_mat(
    mat: HashMat, triples: NDArray[np.int64], window: int, budget: float, *, pinned: bool = False
) -> Speed:
    """HashMat or StringMat, over as many triples as about ``budget`` seconds allow."""
    probe = triples[: 2 * window + 200]
    room = mat.prepare(probe, window)
    mat.run(probe[:window], window, room, pinned=pinned)
    speed = _timed(mat, probe, window, room, pinned)
    count = int(min(len(triples), budget * speed.triples))
    if count < 2 * len(probe):
        return speed
    part = triples[:count]
    return _timed(mat, part, window, mat.prepare(part, window), pinned)


def _timed(mat: HashMat, part: NDArray[np.int64], window: int, room: Ids, pinned: bool) -> Speed:
    began = time.process_time()
    outcome = mat.run(part, window, room, pinned=pinned)
    return Speed(len(part) / (time.process_time() - began), outcome.results / len(part))


def run_one_by_one(patterns: Sequence[Patterns], data: Data, window: int, count: int) -> Speed:
    """Every query by itself in the interval evaluator."""
    dictionary = Dictionary()
    evaluators = [IntervalEvaluator(query(each, window), Background(), dictionary) for each in patterns]
    given = data.slab(0, count)
    results = 0

    def work() -> None:
        nonlocal results
        for evaluator in evaluators:
            results += len(evaluator.advance(given).at)

    spent = seconds(work)
    return Speed(count / spent, results / count)
