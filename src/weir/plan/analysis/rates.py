"""What a sample of a query's streams tells: how much comes of a predicate, and of the commonest term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weir.rdf.terms import IRI

TOO_FULL = 2.0
"""A slot with more than so many times the mean is one that others wait for."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Parts of the triples that a query wants: ``commonest`` of the term that most have at a place (0
    subject, 1 predicate, 2 object), ``predicates`` of each predicate."""

    commonest: Mapping[int, float] = field(default_factory=dict)
    predicates: Mapping[IRI, float] = field(default_factory=dict)

    def fullest(self, place: int, slots: int) -> float:
        """How full a slot is at least, beside the mean, where a place splits the triples."""
        return self.commonest.get(place, 0.0) * slots

    def of(self, predicates: tuple[IRI, ...]) -> float:
        """What comes of some predicates."""
        return sum(self.predicates.get(each, 0.0) for each in predicates)
