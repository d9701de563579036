"""A query is its meaning, whatever text it came from."""

from __future__ import annotations

from weir.language.algebra import patterns as a
from weir.language.algebra.query import R2S, Dataset, Dialect, Query, Select, Semantics
from weir.language.algebra.windows import Now, Report, WindowDeclaration, WindowSemantics
from weir.rdf.terms import Variable

X = Variable("x")


def window(name: str, stream: str, *, in_default: bool = False) -> WindowDeclaration:
    return WindowDeclaration(name, stream, Now(), WindowSemantics(Report(content_change=True)), in_default)


def test_text_dialect_and_warnings_do_not_count() -> None:
    one = Query(Select((X,)), a.BGP(()))
    assert one == Query(Select((X,)), a.BGP(()), dialect=Dialect.CQELS, text="SELECT …", warnings=("mind",))
    assert one != Query(Select((X,)), a.BGP(()), semantics=Semantics(R2S.ISTREAM))


def test_windows_are_named_or_in_the_default_graph() -> None:
    dataset = Dataset(windows=(window("a", "s"), window("b", "t", in_default=True)))
    assert [each.name for each in dataset.named_windows] == ["a"]
    assert [each.name for each in dataset.default_windows] == ["b"]


def test_each_stream_is_read_once() -> None:
    dataset = Dataset(windows=(window("a", "t"), window("b", "s"), window("c", "t")))
    assert Query(Select((X,)), a.BGP(()), dataset).streams == ("t", "s")
