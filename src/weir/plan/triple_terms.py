"""Triple patterns with variables inside triple terms → plain patterns, a test and BINDs.

Leaves match columns of ids, and a triple term is one id. So the term gets a variable of its own and is taken
apart above the leaf: ``?r rdf:reifies <<( ?s :p ?o )>>`` is ``?r rdf:reifies ?.term1`` where
``isTRIPLE(?.term1) && sameTerm(PREDICATE(?.term1), :p)``, with ``SUBJECT(?.term1)`` as ``?s`` and
``OBJECT(?.term1)`` as ``?o``. A variable that occurs twice in the triple pattern becomes a test. Each such
pattern is a part of its own in the join, so its variables join as any others (decision triple-terms).
"""

from __future__ import annotations

from collections.abc import Iterator

from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import And, Builtin, Call, Expression
from weir.language.algebra.fold import folded
from weir.language.algebra.scope import TERM
from weir.rdf.terms import BlankNode, Variable

_PLACES = (Builtin.SUBJECT, Builtin.PREDICATE, Builtin.OBJECT)


def has_triple_terms(pattern: a.BGP | a.PathPattern) -> bool:
    """Whether a pattern has a triple term with variables in it."""
    leaves = pattern.triples if isinstance(pattern, a.BGP) else (pattern,)
    return any(_nested(leaf) for leaf in leaves)


def _nested(leaf: a.TriplePattern | a.PathPattern) -> bool:
    return isinstance(leaf.subject, a.TripleTermPattern) or isinstance(leaf.object, a.TripleTermPattern)


def unfolded(pattern: a.BGP | a.PathPattern, numbers: Iterator[int]) -> a.Pattern:
    """The same pattern with triple terms taken apart; ``numbers`` make the new variables."""
    if isinstance(pattern, a.PathPattern):
        unfolding = _Unfolding(numbers)
        subject, object = unfolding.nodes(pattern.subject, pattern.object)
        return unfolding.above(a.PathPattern(subject, pattern.path, object))
    plain = [each for each in pattern.triples if not _nested(each)]
    found: a.Pattern = a.BGP(tuple(plain))
    for each in pattern.triples:
        if _nested(each):
            unfolding = _Unfolding(numbers)
            part = unfolding.above(a.BGP((a.TriplePattern(*unfolding.nodes(*each.nodes)),)))
            found = part if found == a.BGP(()) else a.Join(found, part)
    return found


class _Unfolding:
    """One triple pattern: ``known`` says how each variable is got, ``tests`` what has to hold."""

    def __init__(self, numbers: Iterator[int]) -> None:
        self.numbers = numbers
        self.known: dict[Variable, Expression] = {}
        self.tests: list[Expression] = []

    def nodes(self, *nodes: a.Node) -> list[a.Node]:
        """The nodes of the leaf."""
        self.known = {node: node for node in nodes if isinstance(node, Variable)}
        found = list(nodes)
        for place, node in enumerate(nodes):
            if isinstance(node, a.TripleTermPattern):
                variable = Variable(f"{TERM}{next(self.numbers)}")
                self._open(variable, node)
                found[place] = variable
        return found

    def _open(self, term: Expression, pattern: a.TripleTermPattern) -> None:
        self.tests.append(Call(Builtin.ISTRIPLE, (term,)))
        for place, node in zip(_PLACES, (pattern.subject, pattern.predicate, pattern.object), strict=True):
            part = Call(place, (term,))
            if isinstance(node, a.TripleTermPattern):
                self._open(part, node)
            elif isinstance(node, Variable):
                first = self.known.setdefault(node, part)
                if first != part:
                    self.tests.append(Call(Builtin.SAMETERM, (first, part)))
            else:
                assert not isinstance(node, BlankNode)  # of a query, they are variables
                self.tests.append(Call(Builtin.SAMETERM, (part, node)))

    def above(self, leaf: a.Pattern) -> a.Pattern:
        """The leaf with its tests and what is bound by them."""
        tested = a.Filter(folded(And, tuple(self.tests)), leaf)
        bindings = tuple((variable, part) for variable, part in self.known.items() if variable != part)
        return a.Extend(tested, bindings) if bindings else tested
