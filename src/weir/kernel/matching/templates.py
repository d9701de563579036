"""Queries that run as one evaluator: a set of conjunctions, a template, or a query by itself.

All parts answer alike: ``of`` a query's name gives its ``Answers``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from weir.kernel.contract import Answers, Evaluator, Slab
from weir.plan.analysis.templates import NUMBER
from weir.rdf.columns import Ids
from weir.rdf.ids.inline import payloads


class PartAnswers(Protocol):
    """The answers of the queries of a part."""

    @property
    def evaluations(self) -> int: ...

    def __len__(self) -> int:
        """The number of results that were computed; one that several queries share counts once."""
        ...

    @property
    def delivered(self) -> int:
        """The number of results, once per query that gets them."""
        ...

    def counts(self) -> dict[str, int]:
        """The number of results of every query."""
        ...

    def of(self, query: str) -> Answers:
        """One query's answers."""
        ...

    def items(self) -> Iterator[tuple[str, Answers]]:
        """The answers of every query that has any."""
        ...


@dataclass(frozen=True, slots=True)
class Reader:
    """How a query reads a template: its number (None where all are identical), and its own names of
    the template's columns."""

    number: int | None
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TemplateAnswers:
    """A template's answers, handed out by number."""

    answers: Answers
    readers: Mapping[str, Reader]

    @property
    def evaluations(self) -> int:
        return self.answers.evaluations

    def __len__(self) -> int:
        return len(self.answers.at)

    @property
    def delivered(self) -> int:
        return sum(len(self._rows(reader)) for reader in self.readers.values())

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
        rows = self._rows(reader)
        columns = {name: self.answers.columns[column][rows] for column, name in reader.names}
        return Answers(self.answers.at[rows], columns, self.answers.empty, self.answers.evaluations)

    def items(self) -> Iterator[tuple[str, Answers]]:
        for name in self.readers:
            found = self.of(name)
            if len(found.at) or len(found.empty):
                yield name, found


@dataclass(frozen=True)
class OwnAnswers:
    """The answers of a query that runs by itself."""

    query: str
    answers: Answers

    @property
    def evaluations(self) -> int:
        return self.answers.evaluations

    def __len__(self) -> int:
        return len(self.answers.at)

    @property
    def delivered(self) -> int:
        return len(self.answers.at)

    def counts(self) -> dict[str, int]:
        return {self.query: len(self.answers.at)}

    def of(self, query: str) -> Answers:
        return self.answers

    def items(self) -> Iterator[tuple[str, Answers]]:
        if len(self.answers.at) or len(self.answers.empty):
            yield self.query, self.answers


@dataclass(slots=True)
class TemplatePart:
    """A template's evaluator and the queries that read it; ``rows`` are the constants it was made for."""

    evaluator: Evaluator
    readers: dict[str, Reader] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.readers)

    def drop(self, names: Sequence[str]) -> None:
        """Queries that nobody asks for any more; their rows stay until the last query has gone."""
        for name in names:
            del self.readers[name]

    def advance(self, slab: Slab) -> TemplateAnswers:
        return TemplateAnswers(self.evaluator.advance(slab), dict(self.readers))

    def statistics(self) -> Mapping[str, Any]:
        return self.evaluator.statistics()


@dataclass(slots=True)
class OwnPart:
    """A query by itself, and why."""

    name: str
    evaluator: Evaluator
    reason: str
    gone: bool = False

    def __len__(self) -> int:
        return 0 if self.gone else 1

    def drop(self, names: Sequence[str]) -> None:
        self.gone = self.name in names

    def advance(self, slab: Slab) -> OwnAnswers:
        return OwnAnswers(self.name, self.evaluator.advance(slab))

    def statistics(self) -> Mapping[str, Any]:
        return self.evaluator.statistics()
