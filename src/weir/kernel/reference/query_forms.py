"""Query forms (section 16): what is sent out of solutions, and Γ(τ) for R2S.

R2S works on the solutions of the pattern, for ASK on its one answer; what is left is then
instantiated (decision semantics-time, 29 and 30).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from weir.kernel.functions.scalar import blank_node
from weir.kernel.reference.algebra import Evaluation, identities
from weir.kernel.reference.datasets import Graph, as_set
from weir.kernel.reference.multisets import Bindings
from weir.language.algebra.patterns import Node, TriplePattern, TripleTermPattern
from weir.language.algebra.query import Ask, Construct, Describe, Form, Query
from weir.rdf.terms import IRI, BlankNode, Term, Triple, Variable, triple_term
from weir.rdf.xsd.values import FALSE, TRUE

Row: TypeAlias = Bindings | Triple | bool
"""SELECT gives solutions, CONSTRUCT and DESCRIBE triples, ASK a truth value."""

ANSWER = "boolean"


def gamma(query: Query, evaluation: Evaluation) -> list[Bindings]:
    """Γ(τ): the solutions that R2S compares."""
    solutions = evaluation.solutions(query.pattern)
    if isinstance(query.form, Ask):
        return [{ANSWER: TRUE if solutions else FALSE}]
    return [{n: t for n, t in solution.items() if not n.startswith(".")} for solution in solutions]


def rows(form: Form, solutions: Sequence[Bindings], evaluation: Evaluation) -> list[Row]:
    """What goes out for the solutions that R2S left."""
    match form:
        case Construct(template):
            return list(construct(template, list(solutions), evaluation.key))
        case Describe(targets):
            return list(describe(targets, solutions, evaluation.sds.everything()))
        case Ask():
            return [solution[ANSWER] == TRUE for solution in solutions]
        case _:
            return list(solutions)


def construct(template: Sequence[TriplePattern], solutions: list[Bindings], key: str) -> list[Triple]:
    """The graph that a template makes: blank nodes are new for each solution, ill-formed triples left out."""
    triples: list[Triple] = []
    for solution, identity in zip(solutions, identities(solutions), strict=True):
        for pattern in template:
            made = [_instance(node, solution, f"{key} {identity}") for node in pattern.nodes]
            subject, predicate, object = made
            if isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI) and object is not None:
                triples.append((subject, predicate, object))
    return as_set(triples)


def _instance(node: Node, solution: Bindings, identity: str) -> Term | None:
    if isinstance(node, TripleTermPattern):
        parts = (node.subject, node.predicate, node.object)
        return triple_term(*(_instance(part, solution, identity) for part in parts))
    if isinstance(node, BlankNode):
        return blank_node(identity, node.label)
    if not isinstance(node, Variable):
        return node
    if node.internal:
        return blank_node(identity, node.name)
    return solution.get(node.name)


def describe(targets: Sequence[Variable | IRI], solutions: Sequence[Bindings], graph: Graph) -> list[Triple]:
    """Concise bounded descriptions: a resource's triples, and those of blank nodes they lead to."""
    resources: list[Term] = []
    for solution in solutions:
        for target in targets:
            term = solution.get(target.name) if isinstance(target, Variable) else target
            if isinstance(term, IRI | BlankNode):
                resources.append(term)
    triples: list[Triple] = []
    seen: set[Term] = set()
    while resources:
        resource = resources.pop(0)
        if resource in seen:
            continue
        seen.add(resource)
        for triple in graph.match(resource, None, None):
            triples.append(triple)
            if isinstance(triple[2], BlankNode):
                resources.append(triple[2])
    return as_set(triples)
