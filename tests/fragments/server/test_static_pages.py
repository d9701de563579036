"""What is answered from static pages is to the byte what the responder answers."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import EX, EXAMPLES, SECOND, T0
from weir.fragments.protocol.annotation import Fact, Quad
from weir.fragments.server import Dataset, FastPath, FragmentsApp
from weir.fragments.server.fast_path import plain_pattern

SYNTAXES = ["application/n-quads", "application/trig", "text/turtle", "application/n-triples"]
ODD = '"odd \\"&=+%\\" é"@en'
STATIC: list[Quad] = [
    *((f"<{EX}s{n % 5}>", f"<{EX}p{n % 3}>", f'"{n}"', "") for n in range(12)),
    (f"<{EX}s1>", f"<{EX}p1>", ODD, ""),
    (f"<{EX}s1>", f"<{EX}p1>", f"<{EX}s2>", f"<{EX}graph>"),
]
subjects = st.sampled_from([f"{EX}s1", f"{EX}s2", f"<{EX}s3>", f"{EX}none", "?s", "_:b", "not an iri"])
predicates = st.sampled_from([f"{EX}p0", f"{EX}p1", "?p", f"{EX}delay"])
objects = st.sampled_from(
    ['"3"', '"odd "&=+%" é"@en', '"3"^^http://www.w3.org/2001/XMLSchema#string', f"{EX}s2", '"open']
)
others = st.sampled_from([("graph", f"{EX}graph"), ("page", "1"), ("page", "2"), ("x", "y" * 600), ("z", "")])


@st.composite
def query_strings(draw: st.DrawFn) -> str:
    fields: list[tuple[str, str]] = []
    for name, values in (("subject", subjects), ("predicate", predicates), ("object", objects)):
        if draw(st.booleans()):
            fields.append((name, draw(values)))
    fields += draw(st.lists(others, max_size=1))
    return urlencode(draw(st.permutations(fields)))


def head(query: str, accept: str) -> bytes:
    return f"GET /d?{query} HTTP/1.1\r\nHost: weir.test\r\nAccept: {accept}\r\n\r\n".encode()


def undated(answer: bytes | None) -> tuple[set[bytes], bytes]:
    """Header lines and body."""
    assert answer is not None
    top, _, body = answer.partition(b"\r\n\r\n")
    return {line for line in top.split(b"\r\n") if not line.startswith(b"date:")}, body


@settings(max_examples=150 * EXAMPLES, deadline=None)
@given(query_strings(), st.sampled_from(SYNTAXES), st.sampled_from([2, 100]), st.booleans())
def test_it_is_what_the_responder_answers(query: str, accept: str, page_size: int, dynamic: bool) -> None:
    dataset = Dataset("d", STATIC, page_size=page_size)
    if dynamic:
        dataset.push([Fact(f"<{EX}s1>", f"<{EX}delay>", '"1"', T0, T0 + SECOND)], T0)
    fast = FastPath(FragmentsApp([dataset], clock=lambda: T0))
    first, again = fast.answer(head(query, accept)), fast.answer(head(query, accept))
    assert undated(first) == undated(again)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (f"subject={EX}s1", True),
        (urlencode({"predicate": f"{EX}p1", "object": '"a b"@en'}), True),
        ("", False),
        ("subject=", False),
        ("subject=%3Fs", False),
        (f"subject={EX}s1&page=2", False),
        (f"subject={EX}s1&graph=urn:ldf:defaultGraph", False),
        ("object=%22open", False),
    ],
)
def test_which_requests_are_plain(query: str, found: bool) -> None:
    assert (plain_pattern(query) is not None) is found


def test_static_pages_keep_up_with_its_data_set() -> None:
    app = FragmentsApp([Dataset("d", STATIC)], clock=lambda: T0)
    fast = FastPath(app)
    numbers = iter(range(100))

    def ask() -> tuple[bytes, bytes]:
        """A new head each time: tag and body."""
        request = head(f"subject={EX}s1&predicate={EX}p1", "application/n-quads")
        fresh = request.replace(b"\r\n\r\n", b"\r\nX-Number: %d\r\n\r\n" % next(numbers))
        lines, body = undated(fast.answer(fresh))
        return next(line for line in lines if line.startswith(b"etag")), body

    first = ask()
    assert b"odd" in first[1] and ask() == first
    app.datasets["d"].replace_static([(f"<{EX}s1>", f"<{EX}p1>", '"new"', "")])
    second = ask()
    assert b'"new"' in second[1] and second[0] != first[0]
    app.datasets["d"].push([Fact(f"<{EX}s1>", f"<{EX}p1>", '"pushed"', T0, T0 + SECOND)], T0)
    assert b'"pushed"' in ask()[1]
    app.remove("d")
    app.add(Dataset("d"))
    assert b"s1> <" not in ask()[1]
