"""Messages in every format: the same triples, times by a declared predicate, bad ones set aside whole."""

from __future__ import annotations

import json

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.errors import UsageError
from weir.rdf.formats.media import FORMATS, format_of, format_of_path
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.formats.times import write_time
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.messages import Parsed

KEY = b"test"
TIME = "http://www.w3.org/ns/prov#generatedAtTime"
DATETIME = "http://www.w3.org/2001/XMLSchema#dateTime"
QUADS = [
    ox.Quad(
        ox.NamedNode("http://e/a"), ox.NamedNode("http://e/p"), ox.Literal('é \\ "x"\t\n', language="en")
    ),
    ox.Quad(ox.BlankNode("x"), ox.NamedNode("http://e/p"), ox.BlankNode("y")),
    ox.Quad(
        ox.BlankNode("y"),
        ox.NamedNode("http://e/q"),
        ox.Literal("01", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer")),
    ),
    ox.Quad(
        ox.NamedNode("http://e/a"),
        ox.NamedNode(TIME),
        ox.Literal("1970-01-01T00:00:05Z", datatype=ox.NamedNode(DATETIME)),
    ),
]
SYNTAXES = [item for item in FORMATS if item.syntax is not None]


def parse(
    *payloads: bytes | str, format: str = "turtle", predicate: str | None = TIME, **options: object
) -> Parsed:
    data = [text.encode() if isinstance(text, str) else text for text in payloads]
    options = {"positions": range(0, 1000 * len(data), 1000), **options}
    return parse_payloads(
        data, format_of(format), scope="s lane", key=KEY, time_predicate=predicate, **options
    )  # type: ignore[arg-type]


def rows(messages: Parsed) -> list[tuple[int, str, str, str, str]]:
    texts = [terms.texts.gather(terms.codes).to_list() for terms in messages.terms]
    return list(zip(messages.messages.message.tolist(), *texts, strict=True))


def at(seconds: int) -> str:
    return f'<http://e/x> <{TIME}> "1970-01-01T00:00:{seconds:02}Z"^^<{DATETIME}> .'


@pytest.mark.parametrize("format", SYNTAXES, ids=lambda item: item.name)
def test_every_format_gives_the_same_message(format) -> None:  # type: ignore[no-untyped-def]
    payload = ox.serialize(QUADS, format=format.syntax)
    messages = parse(payload, payload, format=format.name)
    assert messages.messages.time.tolist() == [5_000_000, 5_000_000]
    assert messages.messages.triples.tolist() == [4, 4]
    assert messages.messages.place.tolist() == [0, 1, 2, 3] * 2
    triples = rows(messages)
    assert sorted(row[1:4] for row in triples if "_:" not in "".join(row[1:4])) == sorted(
        2
        * [
            ("<http://e/a>", "<http://e/p>", '"é \\\\ \\"x\\"\t\\n"@en'),
            ("<http://e/a>", f"<{TIME}>", f'"1970-01-01T00:00:05Z"^^<{DATETIME}>'),
        ]
    )
    links = {
        row[0]: (row[1], row[3]) for row in triples if row[1].startswith("_:") and row[3].startswith("_:")
    }
    ends = {row[0]: row[1] for row in triples if row[3].startswith('"01"')}
    assert {number: pair[1] for number, pair in links.items()} == ends
    assert len({label for pair in links.values() for label in pair}) == 4
    again = parse(payload, payload, format=format.name)
    assert rows(again) == triples


def test_formats_are_found_by_name_ending_and_media_type() -> None:
    texts = ("turtle", ".ttl", "ttl", ".n3", "text/turtle; charset=utf-8")
    assert {format_of(text).name for text in texts} == {"turtle"}
    assert format_of("application/ld+json").name == "jsonld"
    found = [format_of_path(name) for name in ("a.nq.gz", "b.JSONL", "c.txt")]
    assert [item and item.name for item in found] == ["nquads", "ndjsonld", None]
    with pytest.raises(UsageError, match="unknown message format 'text/html'") as caught:
        format_of("text/html")
    assert "rdfxml" in str(caught.value)


def test_order_is_that_of_the_text() -> None:
    text = "@prefix : <http://e/> . :z :p 1 . :a :p 2 . :m :p 3 ."
    messages = parse(text, times=[7])
    assert [row[1] for row in rows(messages)] == ["<http://e/z>", "<http://e/a>", "<http://e/m>"]


@pytest.mark.parametrize(
    ("said", "microseconds"),
    [
        (f'"1970-01-01T01:00:00+01:00"^^<{DATETIME}>', 0),
        ("1500", 1_500_000),
        ('"1500"', 1_500_000),
        ('"1970-01-01T00:00:01.5Z"', 1_500_000),
        ('"1500"^^<http://www.w3.org/2001/XMLSchema#long>', 1_500_000),
    ],
)
def test_times_by_a_predicate(said: str, microseconds: int) -> None:
    assert parse(f"<http://e/x> <{TIME}> {said} .").messages.time.tolist() == [microseconds]


def test_a_given_time_counts_before_the_predicate() -> None:
    assert parse(at(1), at(2), times=[9, None]).messages.time.tolist() == [9, 2_000_000]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<http://e/x> <http://e/p> 1 .", "no <"),
        (f"{at(1)} {at(2)}", "2 different times"),
        (f"<http://e/x> <{TIME}> <http://e/y> .", "neither an xsd:dateTime nor milliseconds"),
        (f'<http://e/x> <{TIME}> "2020"^^<http://www.w3.org/2001/XMLSchema#gYear> .', "neither"),
        (f'<http://e/x> <{TIME}> "5"^^<{DATETIME}> .', "neither"),
        (f'<http://e/x> <{TIME}> "1970-01-01T00:00:01Z"@en .', "neither"),
    ],
)
def test_messages_without_one_good_time_are_set_aside(text: str, reason: str) -> None:
    messages = parse(at(1), text, at(3))
    assert messages.messages.time.tolist() == [1_000_000, 3_000_000]
    assert messages.position.tolist() == [0, 2000]
    (bad,) = messages.rejected
    assert (bad.line, bad.text) == (2, text[:200] + "…" * (len(text) > 200))
    assert reason in bad.reason


def test_equal_times_are_one_and_graphs_speak_for_the_message() -> None:
    graph = f"<http://e/g> <{TIME}> 1000 . <http://e/g> {{ <http://e/x> <{TIME}> 5 }}"
    same = f'<http://e/x> <{TIME}> 1000 . <http://e/y> <{TIME}> "1970-01-01T00:00:01Z"^^<{DATETIME}> .'
    assert parse(graph, same, format="trig").messages.time.tolist() == [1_000_000, 1_000_000]


def test_without_a_predicate_the_time_must_be_given() -> None:
    messages = parse("", predicate=None)
    assert messages.rejected[0].reason == "no time is given, and no predicate declared"
    assert parse("", "", times=[5, 2**62], predicate=None).messages.time.tolist() == [5]


def test_a_payload_with_a_time_and_nothing_else_is_a_heartbeat() -> None:
    for format in SYNTAXES[:-1]:
        messages = parse("[]" if format.name == "jsonld" else "", format=format.name, times=[5])
        assert (messages.messages.time.tolist(), messages.messages.triples.tolist()) == ([5], [0])


BROKEN = {
    "turtle": f"{at(1)}\n<http://e/x> <http://e/p> .",
    "trig": f"<http://e/g> {{ {at(1)} ",
    "ntriples": f"{at(1)}\n<http://e/x> <http://e/p> <http://e/o> <http://e/g> .",
    "nquads": f"{at(1)}\nnonsense\n",
    "jsonld": '{"@id": "http://e/x",\n"http://e/p": ',
    "rdfxml": "<rdf:RDF>",
}


@pytest.mark.parametrize("format", list(BROKEN))
def test_a_broken_message_is_set_aside_whole(format: str) -> None:
    messages = parse(
        BROKEN[format], b"\xff\xfe", "" if format != "jsonld" else "{}", format=format, times=[None, 1, 2]
    )
    assert messages.messages.time.tolist() == [2]
    assert [item.line for item in messages.rejected] == [1, 2]
    assert len(messages.messages.message) == 0
    if format not in ("jsonld", "rdfxml", "trig"):
        assert messages.rejected[0].reason.startswith("line 2 of the message: ")


def test_lines_of_a_file() -> None:
    messages = parse(BROKEN["nquads"], format="nquads", lines=[10])
    assert [(item.line, "line" in item.reason[:4]) for item in messages.rejected] == [(11, False)]


def test_contexts_are_not_fetched() -> None:
    messages = parse('{"@context": "https://schema.org/", "name": "x"}', format="jsonld", times=[1])
    assert messages.rejected[0].reason.startswith("a context by its address: contexts are not fetched")


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("jsonld", '{"http://e/p":' * 60_000 + "1" + "}" * 60_000),
        ("turtle", "<http://e/a> <http://e/p> " + "<<( <http://e/a> <http://e/p> " * 60_000),
        ("nquads", "<http://e/a> <http://e/p> " + "<<( <http://e/a> <http://e/p> " * 60_000),
        ("tnq", "5\t<http://e/a> <http://e/p> " + "<<( <http://e/a> <http://e/p> " * 60_000),
        ("rdfxml", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>" + "<a><b>" * 60_000),
        ("rdfxml", '<!DOCTYPE r [<!ENTITY a "aaaaa"><!ENTITY b "&a;&a;">]><r/>'),
    ],
    ids=lambda text: text[:7],
)
def test_what_would_break_the_parser_is_refused(format: str, text: str) -> None:
    messages = parse(text, format=format, times=[1])
    assert len(messages.rejected) == 1
    assert len(messages.rejected[0].text) <= 201


def test_tnq_payloads_hold_messages_that_do_not_span_payloads() -> None:
    one = "1\t<http://e/a> <http://e/p> _:x .\n"
    messages = parse(one + one, "", one[:-1] + "\r\nbad\n3\t\n", one, format="tnq", predicate=None)
    assert messages.messages.time.tolist() == [1000, 1000, 3000, 1000]
    assert messages.messages.triples.tolist() == [2, 1, 0, 1]
    assert messages.position.tolist() == [0, 2000, 2000 + len(one) + 1 + 4, 3000]
    assert [(item.line, item.reason) for item in messages.rejected] == [
        (3, "line 2 of the message: no tab between time and statement")
    ]


def test_json_lines_are_messages() -> None:
    good = json.dumps({"@id": "http://e/x", TIME: 5})
    messages = parse(f"{good}\n\nnonsense\n{good}\r\n", format="ndjsonld", lines=[1])
    assert messages.messages.time.tolist() == [5000, 5000]
    assert messages.position.tolist() == [0, len(good) + 11]
    assert [item.line for item in messages.rejected] == [3]


TERM = st.sampled_from(["<http://e/a>", "<http://e/é>", "_:x", "_:y"])
OBJECT = st.one_of(TERM, st.text(max_size=5).map(lambda text: str(ox.Literal(text))))
STATEMENT = st.tuples(TERM, OBJECT, st.sampled_from(["", "<http://e/g>"])).map(
    lambda parts: f"{parts[0]} <http://e/p> {parts[1]} {parts[2]} ."
)


@given(st.lists(st.tuples(st.integers(-(10**9), 10**9), st.lists(STATEMENT, max_size=4)), max_size=6))
def test_written_lines_read_back(script: list[tuple[int, list[str]]]) -> None:
    """Times differ from one message to the next, so no two neighbours become one."""
    times = [2 * time + place % 2 for place, (time, _) in enumerate(script)]
    payloads = ["".join(line + "\n" for line in lines).encode() for _, lines in script]
    messages = parse(*payloads, format="nquads", times=times)
    lines = [
        f"{write_time(time)}\t{line}\n"
        for time, (_, statements) in zip(times, script, strict=True)
        for line in statements or [""]
    ]
    back = parse_lines("".join(lines).encode(), scope="s", key=KEY)
    assert not back.rejected
    assert back.messages.time.tolist() == messages.messages.time.tolist()
    assert np.array_equal(back.messages.triples, messages.messages.triples)
    plain = [
        [["_" if "_:" in term[:2] else term for term in row[1:]] for row in rows(each)]
        for each in (messages, back)
    ]
    assert plain[0] == plain[1]
