"""A query as RSP-QL's quadruple: expression, dataset, evaluation times, form; and equality of queries.

A window's name means nothing to a query unless ``WINDOW ?w`` binds it, and dialects differ in which
windows they name. ``canonical`` names windows ``.1``, ``.2``, … in the order in which the pattern uses
them, then those in the default graph, so that a query equals its translation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from html import escape
from typing import TypeAlias

from weir.language.algebra.fold import mapped, patterns
from weir.language.algebra.patterns import Pattern, TriplePattern, Window
from weir.language.algebra.windows import WindowDeclaration
from weir.rdf.terms import IRI, Variable


class Dialect(Enum):
    """The languages Weir reads; plain SPARQL is what they have in common."""

    SPARQL = "sparql"
    RSPQL = "rspql"
    CQELS = "cqels"
    CSPARQL = "csparql"
    SPARQLSTREAM = "sparqlstream"


@dataclass(frozen=True, slots=True)
class Dataset:
    """``default`` and ``named`` are the graphs of FROM and FROM NAMED.

    In plain SPARQL (no window) a dataset clause replaces the dataset given at registration; with
    windows the default graph given at registration always takes part, and so do those declared.
    """

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    windows: tuple[WindowDeclaration, ...] = ()

    @property
    def default_windows(self) -> tuple[WindowDeclaration, ...]:
        return tuple(w for w in self.windows if w.in_default)

    @property
    def named_windows(self) -> tuple[WindowDeclaration, ...]:
        return tuple(w for w in self.windows if not w.in_default)


class R2S(Enum):
    """The streaming operators, by the letter that result lines carry."""

    RSTREAM = "R"
    ISTREAM = "I"
    DSTREAM = "D"


class Previous(Enum):
    """What ISTREAM and DSTREAM compare with: the previous evaluation, or the instant just before."""

    EVALUATION = "EVALUATION"
    INSTANT = "INSTANT"


@dataclass(frozen=True, slots=True)
class Semantics:
    """What a whole query declares beside its windows' semantics (which each window carries)."""

    r2s: R2S = R2S.RSTREAM
    previous: Previous = Previous.EVALUATION
    emit_after: int = 0
    report_empty: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """Bindings of these variables, in this order."""

    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Construct:
    """Triples made from ``template``; internal variables in it are fresh blank nodes per solution. Triples
    that come of different values of the variables in ``beside`` are told apart."""

    template: tuple[TriplePattern, ...]
    beside: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """Whether there is any solution."""


@dataclass(frozen=True, slots=True)
class Describe:
    """The concise bounded descriptions of these resources."""

    targets: tuple[Variable | IRI, ...]


Form: TypeAlias = Select | Construct | Ask | Describe


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """``pattern`` is the expression SE; evaluation times follow from windows and ``semantics``.

    ``output`` is the name of REGISTER, also the IRI by which other queries read the output stream.
    Text, dialect and warnings do not take part in equality: two texts that mean the same are equal.
    """

    form: Form
    pattern: Pattern
    dataset: Dataset = field(default_factory=Dataset)
    semantics: Semantics = field(default_factory=Semantics)
    output: str | None = None
    dialect: Dialect = field(default=Dialect.SPARQL, compare=False)
    text: str = field(default="", compare=False, repr=False)
    warnings: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __repr__(self) -> str:
        what = f"{type(self.form).__name__.upper()}{''.join(f' ?{v.name}' for v in self._selected())}"
        over = ", ".join(f"<{each}>" if isinstance(each, str) else f"?{each.name}" for each in self.streams)
        named = "" if self.output is None else f" {self.output}"
        return f"<weir.Query{named} ({self.dialect.value}): {what}{' over ' * bool(over)}{over}>"

    def _selected(self) -> tuple[Variable, ...]:
        return self.form.variables if isinstance(self.form, Select) else ()

    def _repr_html_(self) -> str:
        """The text, with the warnings above it."""
        told = "".join(f"<p><b>warning</b> {escape(each)}</p>" for each in self.warnings)
        return f"{told}<pre>{escape(self.text or repr(self))}</pre>"

    @property
    def streams(self) -> tuple[str | Variable, ...]:
        """The streams read, each once, in the order of declaration."""
        return tuple(dict.fromkeys(w.stream for w in self.dataset.windows))


def names_are_bound(query: Query) -> bool:
    """Whether the query can tell how its windows are called."""
    return any(
        isinstance(pattern, Window) and isinstance(pattern.name, Variable)
        for pattern in patterns(query.pattern)
    )


def canonical(query: Query) -> Query:
    """The same query with its windows in canonical order and named canonically where names do not matter."""
    if not query.dataset.windows:
        return query
    declared = {window.name: window for window in query.dataset.windows}
    used = [
        pattern.name.value
        for pattern in patterns(query.pattern)
        if isinstance(pattern, Window) and isinstance(pattern.name, IRI)
    ]
    order = list(dict.fromkeys([*used, *(w.name for w in query.dataset.named_windows), *declared]))
    if names_are_bound(query):
        names = {name: name for name in order}
    else:
        names = {name: f".{place}" for place, name in enumerate(order, 1)}
    windows = tuple(replace(declared[name], name=names[name]) for name in order)

    def rename(pattern: Pattern) -> Pattern:
        if isinstance(pattern, Window) and isinstance(pattern.name, IRI):
            return Window(IRI(names[pattern.name.value]), rename(pattern.pattern))
        return mapped(pattern, rename)

    dataset = replace(query.dataset, windows=windows)
    return replace(query, pattern=rename(query.pattern), dataset=dataset)
