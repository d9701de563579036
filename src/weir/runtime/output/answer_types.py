"""The columns of a query's answers and the types of their values, known before there is any answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from weir.errors import UsageError
from weir.language.algebra.query import Ask, Query, Select
from weir.language.algebra.value_kinds import STRING, value_kinds
from weir.runtime.output.typed_columns import VALUE_TYPES, values_as

AUTO, NTRIPLES = "auto", "ntriples"
Types = str | Mapping[str, str]
_DDL = {"long": "bigint", "decimal": "decimal(38,18)", NTRIPLES: "string"}
_TRIPLE = ("subject", "predicate", "object")


@dataclass(frozen=True, slots=True)
class AnswerTypes:
    """A type of ``VALUE_TYPES`` for each column behind ``at`` and ``op``."""

    types: Mapping[str, str]

    @property
    def ddl(self) -> str:
        """All columns as Spark declares them."""
        own = {name: _DDL.get(kind, kind) for name, kind in self.types.items()}
        return ", ".join(
            f"`{name}` {kind}" for name, kind in {"at": "timestamp", "op": "string", **own}.items()
        )

    def values(self, answers: pa.Table) -> tuple[dict[str, pa.Array], int]:
        """The columns of answers in the form ``columns``, and how many values are left out, because they are
        not of their column's type."""
        made, left_out = {}, 0
        for name, kind in self.types.items():
            texts = answers[name]
            if name == "boolean" and kind == "boolean":
                made[name] = texts.cast(pa.bool_()).combine_chunks()
                continue
            made[name], missed = values_as(texts, kind)
            left_out += missed
        return made, left_out


def answer_types(query: Query, types: Types = AUTO) -> AnswerTypes:
    """The types that ``types`` asks for: ``auto`` takes what the query's text tells of a variable, and text
    where it tells nothing; ``ntriples`` are terms; a mapping says it by variable, ``auto`` for the rest."""
    if isinstance(query.form, Ask):
        return AnswerTypes({"boolean": "boolean"})
    told, every = (types, AUTO) if isinstance(types, Mapping) else ({}, types)
    if every not in (AUTO, NTRIPLES):
        raise UsageError(
            f"types is {every!r}", hint='"auto", "ntriples", or a mapping such as {"celsius": "double"}'
        )
    if not isinstance(query.form, Select):
        if told:
            raise UsageError(
                "types by name are for SELECT", hint="the triples of CONSTRUCT are N-Triples texts"
            )
        return AnswerTypes(dict.fromkeys(_TRIPLE, NTRIPLES))
    names = [variable.name for variable in query.form.variables]
    taken = [name for name in names if name.lower() in ("at", "op")]
    if taken:
        raise UsageError(
            f"the variable ?{taken[0]} has the name of a column of every result",
            hint=f"call it otherwise: SELECT (?{taken[0]} AS ?its_{taken[0]})",
        )
    for name, kind in told.items():
        if name not in names:
            raise UsageError(f"types names ?{name}, which the query does not select")
        if kind not in VALUE_TYPES:
            raise UsageError(f"?{name} cannot be {kind!r}", hint=f"one of {', '.join(VALUE_TYPES)}")
    known = {} if every == NTRIPLES else value_kinds(query.pattern)
    plain = NTRIPLES if every == NTRIPLES else STRING
    return AnswerTypes({name: told.get(name, known.get(name, plain)) for name in names})
