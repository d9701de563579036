"""Triples, triple terms, reifiers and annotations (SPARQL 1.2 grammar, rules 75 to 109 and 115 to 125).

A reified triple ``<< s p o ~ r >>`` stands for its reifier ``r``, and ``r rdf:reifies <<( s p o )>>`` goes
with it; so it is with what annotates a triple, ``~ r`` and ``{| … |}``. A reifier that has no name is a
blank node.
"""

from __future__ import annotations

from typing import NamedTuple

from weir.language.algebra import patterns as a
from weir.language.syntax.lexer import Kind
from weir.language.syntax.terms import TYPE, TermParser
from weir.rdf.terms import IRI, RDF, BlankNode, Literal, TripleTerm, Variable

FIRST = IRI(RDF + "first")
REST = IRI(RDF + "rest")
NIL = IRI(RDF + "nil")
REIFIES = IRI(RDF + "reifies")

_PATH_MARKS = frozenset("/|*+?")
_VERB_KINDS = frozenset((Kind.VARIABLE, Kind.PREFIXED, Kind.IRI, Kind.A))


class Triple(NamedTuple):
    """One triple as the text has it, at a token; a blank node whose label starts with a dot was written
    without one."""

    at: int
    subject: a.Node
    predicate: IRI | Variable | a.Path
    object: a.Node


class TripleParser(TermParser):
    """Reads triples; those that a shorter form stands for go to ``out`` with the others."""

    def same_subject(self, out: list[Triple], paths: bool) -> None:
        """One subject with its predicates and objects."""
        before = len(out)
        subject = self.node(out, paths)
        alone = len(out) > before and not isinstance(subject, a.TripleTermPattern)
        if not alone or self.kinds[self.i] in _VERB_KINDS or self.texts[self.i] in ("^", "!", "("):
            self.properties(subject, out, paths)

    def node(self, out: list[Triple], paths: bool) -> a.Node:
        """A term, or ``[…]``, ``(…)`` or ``<<…>>`` whose triples go to ``out``."""
        kind = self.kinds[self.i]
        text = self.texts[self.i]
        if kind <= 3:
            term = self.terms.get(text)
            if term is None:
                return self.variable() if kind == 1 else self.iri()
            self.i += 1
            return term
        if kind == Kind.MARK:
            if text == "[":
                return self._property_list(out, paths)
            if text == "(":
                return self._collection(out, paths)
            if text == "<<":
                return self._reified(out)
            if text == "<<(":
                return self._triple_term()
        elif kind == Kind.BLANK:
            self.i += 1
            return BlankNode(text[2:])
        return self.literal()

    def _property_list(self, out: list[Triple], paths: bool) -> BlankNode:
        self.enter("[")
        subject = self.fresh()
        if self.texts[self.i] != "]":
            self.properties(subject, out, paths)
        self.leave("]")
        return subject

    def _collection(self, out: list[Triple], paths: bool) -> IRI | BlankNode:
        self.enter("(")
        members: list[tuple[int, a.Node]] = []
        while not self.accept(")"):
            at = self.i
            members.append((at, self.node(out, paths)))
        self.depth -= 1
        cells: list[IRI | BlankNode] = [*(self.fresh() for _ in members), NIL]
        for (at, member), cell, rest in zip(members, cells[:-1], cells[1:], strict=True):
            out.append(Triple(at, cell, FIRST, member))
            out.append(Triple(at, cell, REST, rest))
        return cells[0]

    def properties(self, subject: a.Node, out: list[Triple], paths: bool) -> None:
        """Predicates and objects, at least one of each."""
        texts = self.texts
        while True:
            at = self.i
            verb = self.verb(paths)
            while True:
                term = self.node(out, paths)
                out.append(Triple(at, subject, verb, term))
                if texts[self.i] in ("~", "{|"):
                    self._annotations(at, a.TripleTermPattern(subject, self._simple(verb), term), out, paths)
                if texts[self.i] != ",":
                    break
                self.i += 1
            if texts[self.i] != ";":
                return
            while texts[self.i] == ";":
                self.i += 1
            if self.kinds[self.i] not in _VERB_KINDS and not (paths and texts[self.i] in ("^", "!", "(")):
                return

    def verb(self, paths: bool) -> IRI | Variable | a.Path:
        """A predicate, or a property path where the grammar allows one."""
        kind = self.kinds[self.i]
        if kind == 1:
            return self.variable()
        if paths and (kind == Kind.MARK or self.texts[self.i + 1] in _PATH_MARKS):
            path = self.path()
            return path.iri if isinstance(path, a.Link) else path
        if kind == 4:
            self.i += 1
            return TYPE
        return self.iri("a predicate")

    def _simple(self, verb: IRI | Variable | a.Path) -> IRI | Variable:
        if not isinstance(verb, IRI | Variable):
            raise self.error("a path is no triple that could be annotated")
        return verb

    # Triple terms (rules 115 to 125)

    def _triple_term(self) -> a.TripleTermPattern:
        """``<<( subject predicate object )>>`` in a pattern."""
        self.enter("<<(")
        subject, predicate = self._inside(None), self.verb(False)
        found = a.TripleTermPattern(subject, self._simple(predicate), self._inside(None))
        self.leave(")>>")
        return found

    def _reified(self, out: list[Triple]) -> a.Node:
        """``<< subject predicate object ~ reifier >>``: the reifier."""
        at = self.i
        self.enter("<<")
        subject, predicate = self._inside(out), self.verb(False)
        term = a.TripleTermPattern(subject, self._simple(predicate), self._inside(out))
        reifier = (self._named() if self.accept("~") else None) or self.fresh()
        self.leave(">>")
        out.append(Triple(at, reifier, REIFIES, term))
        return reifier

    def _annotations(self, at: int, term: a.TripleTermPattern, out: list[Triple], paths: bool) -> None:
        """Reifiers and blocks behind a triple; a block speaks of the reifier right before it."""
        reifier: a.Node | None = None
        while self.texts[self.i] in ("~", "{|"):
            block = self.texts[self.i] == "{|"
            if not block or reifier is None:
                self.i += not block
                reifier = (None if block else self._named()) or self.fresh()
                out.append(Triple(at, reifier, REIFIES, term))
            if block:
                self.enter("{|")
                self.properties(reifier, out, paths)
                self.leave("|}")
                reifier = None

    def _named(self) -> IRI | Variable | BlankNode | None:
        """A variable, an IRI or a blank node, where one stands here."""
        if self.kinds[self.i] in (Kind.VARIABLE, Kind.PREFIXED, Kind.IRI):
            return self.variable_or_iri()
        if self.kinds[self.i] == Kind.BLANK:
            self.i += 1
            return BlankNode(self.texts[self.i - 1][2:])
        if self.texts[self.i] == "[" and self.texts[self.i + 1] == "]":
            self.i += 2
            return self.fresh()
        return None

    def _inside(self, out: list[Triple] | None) -> a.Node:
        """What may stand in a triple term, or, with ``out``, in a reified triple."""
        text = self.texts[self.i]
        if text == "<<(":
            return self._triple_term()
        if text == "<<" and out is not None:
            return self._reified(out)
        return self._named() or self.literal()

    def ground_triple_term(self) -> TripleTerm:
        """``<<( … )>>`` in data, without variables and blank nodes."""
        self.enter("<<(")
        subject, predicate = self.iri("the IRI of a subject"), self.verb(False)
        if not isinstance(predicate, IRI):
            raise self.error("data may hold no variables", self.i - 1)
        found = TripleTerm(subject, predicate, self.ground())
        self.leave(")>>")
        return found

    def ground(self) -> IRI | Literal | TripleTerm:
        """A term in data."""
        if self.texts[self.i] == "<<(":
            return self.ground_triple_term()
        if self.kinds[self.i] in (Kind.PREFIXED, Kind.IRI):
            return self.iri()
        return self.literal()
