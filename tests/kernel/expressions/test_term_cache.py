"""What is remembered of terms outlives a dictionary that forgets texts."""

from __future__ import annotations

import numpy as np

from weir.kernel.expressions import compile
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.relations.relation import Relation
from weir.language.algebra.expressions import Builtin, Call, Coalesce
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal, Variable


def test_results_are_encoded_again_after_texts_were_forgotten() -> None:
    dictionary = Dictionary()
    terms = Terms(dictionary)
    ids = dictionary.encode_terms([IRI("a"), None] * 4)
    relation = Relation({"x": ids}, ids * 0, ids * 0 + 1, frozenset("x"))
    name = Call(Builtin.STR, (Variable("x"),))
    compiled = [compile(Coalesce((each, Literal("none"))), terms) for each in (name, Variable("x"))]
    for rows in (8, 2):
        for each, expected in zip(compiled, ("a", IRI("a")), strict=True):
            outcome = each.ids(relation.take(np.arange(rows)))
            dictionary.retain(ids)
            outcome = each.ids(relation.take(np.arange(rows)))
            decoded = [dictionary.decode(int(identifier)) for identifier in outcome]
            wanted = Literal(expected) if isinstance(expected, str) else expected
            assert decoded == [wanted, Literal("none")] * (rows // 2)
