"""Functions of others, called in queries by their IRIs: entry points of the group ``weir.functions``.

The name of an entry point is the IRI; or it names a mapping from IRIs to functions. A function takes a value
of Python for each argument (``int``, ``Decimal``, ``float``, ``bool``, ``str``; a term for all else) and
gives one of these, a term, or None for an error. Law: it is pure, for it is called once for equal arguments,
in every process that evaluates the query. What it raises is an error of the expression, as SPARQL has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

from weir.errors import kind_of
from weir.extras import brought
from weir.kernel.functions.casts import CASTS
from weir.kernel.functions.operators import ExpressionError
from weir.rdf.terms import IRI, BlankNode, Literal, Term, TripleTerm
from weir.rdf.xsd.numbers import Number, NumericKind, literal_of
from weir.rdf.xsd.values import Boolean, Text, boolean, value_of

GROUP = "weir.functions"


@cache
def extensions() -> Mapping[str, Callable[..., Any]]:
    """All functions that installed packages bring, by IRI."""
    found: dict[str, Callable[..., Any]] = {}
    for name, made in brought(GROUP).items():
        found |= made if isinstance(made, Mapping) else {name: made}
    return found


def known(iri: str) -> bool:
    """Whether a function has that name: one of a package, or a cast."""
    return iri in CASTS or iri in extensions()


def call(iri: str, arguments: list[Term]) -> Term:
    """The value of a function of that name."""
    function = extensions().get(iri)
    if function is None:
        raise ExpressionError(f"unknown function {iri} of {len(arguments)} arguments")
    try:
        found = function(*map(_value, arguments))
    except Exception as error:
        raise ExpressionError(f"<{iri}> failed: {error}") from error
    return _term(iri, found)


def _value(term: Term) -> Any:
    value = value_of(term) if isinstance(term, Literal) else None
    if isinstance(value, Number | Boolean):
        return value.value
    return term.lexical if isinstance(term, Literal) and isinstance(value, Text) else term


def _term(iri: str, value: Any) -> Term:
    match value:
        case IRI() | Literal() | BlankNode() | TripleTerm():
            return value
        case bool():
            return boolean(value)
        case int():
            return literal_of(Number(NumericKind.INTEGER, value))
        case Decimal() if value.is_finite():
            return literal_of(Number(NumericKind.DECIMAL, value))
        case float():
            return literal_of(Number(NumericKind.DOUBLE, value))
        case str():
            return Literal(value)
    raise ExpressionError(f"<{iri}> gave {'no value' if value is None else kind_of(value)}")
