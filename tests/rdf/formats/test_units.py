"""Files of messages: what in them is one message, and what is set aside."""

from __future__ import annotations

import json

import pytest

from weir.rdf.formats.media import format_of
from weir.rdf.formats.units import Document, parse_documents
from weir.rdf.messages import Parsed

T = "http://www.w3.org/ns/prov#generatedAtTime"


def parse(*files: str | bytes, format: str, unit: str = "auto", time: str = T) -> Parsed:
    data = [text.encode() if isinstance(text, str) else text for text in files]
    documents = [Document(each, number << 40, "http://base/") for number, each in enumerate(data)]
    return parse_documents(documents, format_of(format), time_predicate=time, scope="s", key=b"k", unit=unit)


def triples(messages: Parsed) -> list[tuple[int, str]]:
    """(milliseconds, subject without its namespace) of every triple."""
    subjects = messages.terms[0].texts.gather(messages.terms[0].codes).to_list()
    times = (messages.messages.time[messages.messages.message] // 1000).tolist()
    return [(time, text.strip("<>").rpartition("/")[2]) for time, text in zip(times, subjects, strict=True)]


def test_a_file_is_a_message() -> None:
    text = f"<x> <{T}> 5 . <y> <http://e/p> 1 ."
    messages = parse(text, text.replace("5", "7"), format="turtle")
    assert triples(messages) == [(5, "x"), (5, "y"), (7, "x"), (7, "y")]
    assert messages.position.tolist() == [0, 1 << 40]


GRAPHS = f"""
@prefix : <http://e/> .
:g1 <{T}> 5 ; :seq 1 .
:g1 {{ :a :p _:x . :b :p _:x }}
:g2 {{ :c :p _:x }}
:g2 <{T}> 4 .
:g1 {{ :d :p 1 }}
"""


def test_graphs_with_times_are_messages_in_the_order_in_which_they_begin() -> None:
    messages = parse(GRAPHS, format="trig")
    assert triples(messages) == [(5, "g1"), (5, "g1"), (5, "a"), (5, "b"), (5, "d"), (4, "c"), (4, "g2")]
    assert messages.position.tolist() == [0, 1]
    objects = messages.terms[2].texts.gather(messages.terms[2].codes).to_list()
    assert objects[2] == objects[3] != objects[5]


def test_a_document_may_be_declared_one_message() -> None:
    messages = parse(GRAPHS, format="trig", unit="document")
    assert "2 different times" in messages.rejected[0].reason
    assert len(messages.messages.time) == 0


def test_times_inside_graphs_and_in_other_graphs() -> None:
    inside = f"<g1> {{ <a> <{T}> 5 }} <g2> {{ <b> <{T}> 6 }}"
    assert triples(parse(inside, format="trig")) == [(5, "a"), (6, "b")]
    meta = f"<meta> {{ <g1> <{T}> 5 . <g2> <{T}> 6 }} <g1> {{ <a> <p> 1 }} <g2> {{ <b> <p> 1 }}"
    assert triples(parse(meta, format="trig")) == [(5, "g1"), (5, "a"), (6, "g2"), (6, "b")]


def test_one_graph_or_a_time_outside_the_graphs_makes_one_message() -> None:
    one = f"<g> <{T}> 5 . <s> <http://e/p> 1 . <g> {{ <a> <p> 1 }}"
    outside = f"<x> <{T}> 6 . <g> {{ <a> <p> 1 }} <h> {{ <b> <p> 1 }}"
    messages = parse(one, outside, format="trig")
    assert messages.messages.time.tolist() == [5000, 6000]
    assert messages.messages.triples.tolist() == [3, 3]


def test_strays_and_graphs_without_a_time_are_set_aside() -> None:
    lines = [
        f'<http://e/g1> <{T}> "5" .',
        "<http://e/a> <http://e/p> <http://e/o> <http://e/g1> .",
        "nonsense",
        "<http://e/s> <http://e/p> <http://e/o> .",
        "<http://e/b> <http://e/p> <http://e/o> <http://e/g2> .",
    ]
    data = "\n".join(lines).encode() + b"\n\xff\n"
    messages = parse(f'<http://e/x> <{T}> "1" .', data, format="nquads")
    assert triples(messages) == [(1, "x"), (5, "g1"), (5, "a")]
    assert [(item.record, item.line, item.reason[:12]) for item in messages.rejected] == [
        (1, 1, f"no <{T}"[:12]),
        (1, 3, messages.rejected[1].reason[:12]),
        (1, 4, "outside the "),
        (1, 6, "invalid UTF-"),
    ]
    assert [item.text for item in messages.rejected] == [
        "graph <http://e/g2>",
        "nonsense",
        lines[3],
        "\ufffd",
    ]


@pytest.mark.parametrize("ending", ["\n", ""])
def test_json_values(ending: str) -> None:
    items = [json.dumps({"@id": f"http://e/m{i}", T: i, "http://e/p": "[,]"}, indent=1) for i in range(3)]
    array = "\ufeff [" + " ,\n".join(items) + "]" + ending
    several = "\n".join(items) + ending
    messages = parse(array, several, items[0], format="jsonld")
    assert [time for time, _ in triples(messages)] == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0]
    assert not messages.rejected


def test_json_arrays_up_to_the_mistake() -> None:
    items = [json.dumps({"@id": f"http://e/m{i}", T: i}) for i in range(2)]
    messages = parse(
        f"[{items[0]},\n{items[1]},\n{{'x'}}, {items[1]}]", f"[{items[0]}] tail", format="jsonld"
    )
    assert messages.messages.time.tolist() == [0, 1000, 0]
    assert [(item.record, item.line, item.text[:5]) for item in messages.rejected] == [
        (0, 3, "{'x'}"),
        (1, 1, "tail"),
    ]
    whole = parse(f"[{items[0]}, {items[1]}]", f"[{items[1]}]", format="jsonld", unit="document")
    assert (whole.messages.time.tolist(), len(whole.rejected)) == ([1000], 1)


def test_json_lines() -> None:
    items = [json.dumps({"@id": f"http://e/m{i}", T: i}) for i in range(2)]
    messages = parse(f"{items[0]}\n\n{{\n{items[1]}\n", format="ndjsonld")
    assert messages.messages.time.tolist() == [0, 1000]
    assert [item.line for item in messages.rejected] == [3]


def test_files_that_hold_nothing() -> None:
    messages = parse("", "[]", "  \n", format="jsonld")
    assert (len(messages.messages.time), len(messages.rejected)) == (0, 0)
    assert not parse("", format="turtle").rejected
