"""What a text says, and what each dialect makes of it."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language.algebra.query import R2S, Ask
from weir.language.algebra.windows import Content, Range, Tick, TickKind
from weir.language.presets import CQELS, RSPQL
from weir.language.syntax.draft import Draft
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.queries import QueryParser


def draft(text: str) -> Draft:
    return QueryParser(Tokens(Source(text)), None, None).draft()


def test_a_dialect_fills_in_what_the_text_leaves_unsaid() -> None:
    found = draft("SELECT * { STREAM <s> [RANGE 5s] { ?x ?p ?y } }")
    cqels, rspql = found.query(CQELS), found.query(RSPQL)
    assert (cqels.semantics.r2s, rspql.semantics.r2s) == (R2S.ISTREAM, R2S.RSTREAM)
    (one,), (other,) = cqels.dataset.windows, rspql.dataset.windows
    assert (one.kind, other.kind) == (Range(5_000_000), Range(5_000_000, 5_000_000))
    assert (one.semantics.content, other.semantics.content) == (Content.BAG, Content.GRAPH)
    assert cqels.pattern is rspql.pattern is found.pattern


def test_what_the_text_says_stays() -> None:
    found = draft("ASK FROM WINDOW <w> ON <s> [NOW CONTENT BAG TICK TUPLE] FROM WINDOW <v> ON <s> [NOW] {}")
    one, other = found.query(RSPQL).dataset.windows
    assert (one.semantics.content, other.semantics.content) == (Content.BAG, Content.GRAPH)
    assert one.semantics.tick == other.semantics.tick == Tick(TickKind.TUPLE)
    assert found.form == Ask()


def test_a_close_needs_a_step() -> None:
    with pytest.raises(SyntaxError, match="no close to report") as caught:
        draft("ASK FROM WINDOW <w> ON <s> [NOW REPORT WINDOW CLOSE] {}").query(RSPQL)
    assert caught.value.column == 28
