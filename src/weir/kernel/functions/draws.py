"""RAND, UUID, STRUUID and BNODE, repeatable: drawn from a hash of (query, τ, solution, place, call).

Running a query again over the same data gives the same values, also after a restart and in both
evaluators; see decision semantics-values, 12.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from weir.rdf.terms import IRI, BlankNode, Literal, Term
from weir.rdf.xsd.numbers import XSD_DOUBLE, double_text


def seed(*parts: object) -> bytes:
    """16 bytes that depend on every part and on where one ends and the next begins."""
    state = hashlib.blake2b(digest_size=16, person=b"weir.fresh")
    for part in parts:
        data = str(part).encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.digest()


def solution_text(solution: Mapping[str, Term]) -> str:
    """The bound named variables in the order of their names: a solution's identity."""
    bound = sorted((name, term) for name, term in solution.items() if not name.startswith("."))
    return " ".join(f"?{name}={term}" for name, term in bound)


def blank_node(*parts: object) -> BlankNode:
    """A blank node that belongs to these parts alone."""
    return BlankNode("w" + seed("bnode", *parts).hex())


@dataclass(slots=True)
class Draws:
    """Draws for one expression and one solution: ``identity`` names both query, τ and solution,
    ``place`` the expression; each draw has a number."""

    identity: str
    place: str = ""
    calls: int = 0

    def _next(self, kind: str) -> bytes:
        self.calls += 1
        return seed(kind, self.identity, self.place, self.calls)

    def rand(self) -> Literal:
        """RAND: a double in [0, 1)."""
        value = (int.from_bytes(self._next("rand")[:8], "big") >> 11) / 2**53
        return Literal(double_text(value), XSD_DOUBLE)

    def uuid(self) -> IRI:
        """UUID as an IRI."""
        return IRI(f"urn:uuid:{uuid.UUID(bytes=self._next('uuid'), version=4)}")

    def struuid(self) -> Literal:
        """UUID as a simple literal."""
        return Literal(str(uuid.UUID(bytes=self._next("struuid"), version=4)))

    def bnode(self, label: str | None) -> BlankNode:
        """BNODE: without a label a new one at each call, with one the same throughout a solution."""
        if label is None:
            return BlankNode("w" + self._next("fresh").hex())
        return blank_node(self.identity, label)
