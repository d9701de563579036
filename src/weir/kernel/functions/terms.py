"""Functions on RDF terms (section 17.4.2) and hashes (17.4.6). Fresh terms are in ``fresh``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

from weir.kernel.functions.errors import ExpressionError
from weir.kernel.functions.strings import simple_text
from weir.rdf.terms import IRI, BlankNode, Literal, Term
from weir.rdf.xsd.numbers import Number
from weir.rdf.xsd.values import boolean, value_of


def is_iri(term: Term) -> Literal:
    """isIRI."""
    return boolean(isinstance(term, IRI))


def is_blank(term: Term) -> Literal:
    """isBlank."""
    return boolean(isinstance(term, BlankNode))


def is_literal(term: Term) -> Literal:
    """isLiteral."""
    return boolean(isinstance(term, Literal))


def is_numeric(term: Term) -> Literal:
    """isNumeric: a literal of a numeric type with a valid form."""
    return boolean(isinstance(term, Literal) and isinstance(value_of(term), Number))


def same_term(left: Term, right: Term) -> Literal:
    """sameTerm: equality of terms, not of values."""
    return boolean(left == right)


def text_of(term: Term) -> Literal:
    """STR: the lexical form of a literal, the code points of an IRI."""
    if isinstance(term, BlankNode):
        raise ExpressionError("STR of a blank node")
    return Literal(term.value if isinstance(term, IRI) else term.lexical)


def language(term: Term) -> Literal:
    """LANG: empty where there is no tag."""
    if not isinstance(term, Literal):
        raise ExpressionError("LANG of a term that is no literal")
    return Literal(term.language or "")


def datatype(term: Term) -> IRI:
    """DATATYPE."""
    if not isinstance(term, Literal):
        raise ExpressionError("DATATYPE of a term that is no literal")
    return IRI(term.datatype)


def iri(term: Term, base: str | None = None) -> IRI:
    """IRI: resolved against ``base`` where it is relative."""
    if isinstance(term, IRI):
        return term
    return IRI(resolve(simple_text(term), base))


def resolve(reference: str, base: str | None) -> str:
    """RFC 3986, section 5.2; as it is where there is no base."""
    if not base or urlsplit(reference).scheme:
        return reference
    return urljoin(base, reference)


def strdt(lexical: Term, kind: Term) -> Literal:
    """STRDT."""
    if not isinstance(kind, IRI):
        raise ExpressionError("the datatype of STRDT is no IRI")
    return Literal(simple_text(lexical), kind.value)


def strlang(lexical: Term, tag: Term) -> Literal:
    """STRLANG."""
    text, wanted = simple_text(lexical), simple_text(tag)
    if not wanted:
        raise ExpressionError("STRLANG with an empty tag")
    return Literal.tagged(text, wanted)


def digest(algorithm: str) -> Callable[[Term], Literal]:
    """MD5, SHA1, SHA256, SHA384, SHA512: hexadecimal digest of the UTF-8 form."""

    def function(term: Term) -> Literal:
        data = simple_text(term).encode("utf-8", "surrogatepass")
        return Literal(hashlib.new(algorithm, data, usedforsecurity=False).hexdigest())

    return function
