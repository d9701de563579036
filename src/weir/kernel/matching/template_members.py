"""Queries that share an evaluator: the members of a template, or one query by itself.

Queries of one shape that differ in constants alone run as one query, whose solutions carry the *number* of
the member they belong to (``plan.analysis.templates``). ``of`` a query's name gives its ``Answers``, as a set
of conjunctions does (``answers``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from weir.kernel.contract import Answers, Evaluator, Slab
from weir.plan.analysis.templates import NUMBER
from weir.rdf.columns import Ids
from weir.rdf.ids.inline import payloads


@dataclass(frozen=True, slots=True)
class Reader:
    """How a query reads a template: its number, and (column, own name) of the columns it selects.

    Without a number it gets every solution, without names every column as it is.
    """

    number: int | None = None
    names: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True)
class TemplateAnswers:
    """A template's answers, handed out by number."""

    answers: Answers
    readers: Mapping[str, Reader]

    @property
    def evaluations(self) -> int:
        return self.answers.evaluations

    def __len__(self) -> int:
        """The number of results that were computed; one that several queries share counts once."""
        return len(self.answers.at)

    @property
    def delivered(self) -> int:
        """The number of results, once per query that gets them."""
        return sum(self.counts().values())

    @cached_property
    def _order(self) -> tuple[Ids, Ids]:
        """Rows by number, and the numbers in that order; rows of one number stay in the order of time."""
        number = payloads(self.answers.columns[NUMBER.name])
        order = np.argsort(number, kind="stable")
        return order, number[order]

    def _rows(self, reader: Reader) -> Ids:
        if reader.number is None:
            return np.arange(len(self.answers.at))
        order, numbers = self._order
        low, high = np.searchsorted(numbers, [reader.number, reader.number + 1])
        return order[low:high]

    def counts(self) -> dict[str, int]:
        return {name: len(self._rows(reader)) for name, reader in self.readers.items()}

    def of(self, query: str) -> Answers:
        reader = self.readers[query]
        if reader.names is None:
            return self.answers
        rows = self._rows(reader)
        columns = {name: self.answers.columns[column][rows] for column, name in reader.names}
        return Answers(self.answers.at[rows], columns, self.answers.empty, self.answers.evaluations)

    def items(self) -> Iterator[tuple[str, Answers]]:
        for name in self.readers:
            found = self.of(name)
            if len(found.at) or len(found.empty):
                yield name, found


@dataclass(slots=True)
class Template:
    """An evaluator and the queries that read it, from batch ``since`` on.

    ``alone`` says why a query runs by itself; None for a template of several.
    """

    evaluator: Evaluator
    since: int
    readers: dict[str, Reader] = field(default_factory=dict)
    alone: str | None = None

    def __len__(self) -> int:
        return len(self.readers)

    def drop(self, names: Sequence[str]) -> None:
        """Forget queries; their constants stay in the template until its last query has gone."""
        for name in names:
            self.readers.pop(name, None)

    def advance(self, slab: Slab) -> TemplateAnswers:
        """Evaluate every evaluation time that the slab completes."""
        return TemplateAnswers(self.evaluator.advance(slab), dict(self.readers))
