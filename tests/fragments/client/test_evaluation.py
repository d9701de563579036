"""The part of the data that the client fetches is enough for any query: same answers as over everything."""

from __future__ import annotations

import asyncio

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import EX, EXAMPLES, T0, Crank, direct, texts
from fragments_naive import NaiveServer
from weir.fragments.client import ClientLimits, Options, evaluation, follow_async
from weir.fragments.protocol.annotation import Quad
from weir.fragments.server import Dataset, FragmentsApp
from weir.language import parse

NODES = [f"<{EX}n{n}>" for n in range(4)]
PREDICATES = [f"<{EX}p>", f"<{EX}q>", f"<{EX}r>"]
LITERALS = [
    '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"2"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"x"',
]
GRAPHS = ["", "", "", f"<{EX}g1>", f"<{EX}g2>"]
VARIABLES = ["?a", "?b", "?c"]

quads = st.lists(
    st.tuples(
        st.sampled_from(NODES),
        st.sampled_from(PREDICATES),
        st.sampled_from(NODES + LITERALS),
        st.sampled_from(GRAPHS),
    ),
    min_size=1,
    max_size=16,
    unique=True,
)
PATHS = [
    f"<{EX}p>*",
    f"<{EX}p>+",
    f"<{EX}p>?",
    f"^<{EX}p>/<{EX}q>",
    f"(<{EX}p>|<{EX}q>)+",
    f"!(<{EX}p>|^<{EX}q>)",
    f"<{EX}r>/<{EX}p>*",
]
CONDITIONS = [
    "?a = ?b",
    "bound(?c)",
    "?b > 1",
    "isIRI(?a)",
    "!bound(?b)",
    f"?c != {NODES[1]}",
    "str(?b) = 'x'",
]
FORMS = [
    "{a} {t}",
    "{a} OPTIONAL {{ {b} }}",
    "{a} OPTIONAL {{ {b} FILTER({c}) }}",
    "{{ {a} }} UNION {{ {b} }}",
    "{a} MINUS {{ {b} }}",
    "{a} FILTER({c})",
    "{a} FILTER EXISTS {{ {b} }}",
    "{a} FILTER NOT EXISTS {{ {b} }}",
    "{a} {{ {b} }}",
    "{a} GRAPH ?g {{ {b} }}",
    f"{{a}} GRAPH <{EX}g1> {{{{ {{b}} }}}}",
    f"{{a}} VALUES (?a ?b) {{{{ ({NODES[0]} UNDEF) ({NODES[1]} {NODES[2]}) }}}}",
    "{a} BIND(str(?a) AS ?v{n})",
    "{a} {{ SELECT ?a (COUNT(*) AS ?v{n}) {{ {b} }} GROUP BY ?a }}",
    "{a} {{ SELECT DISTINCT ?b {{ {b} }} ORDER BY ?b LIMIT 2 }}",
]
"""Every way to put group patterns together: a and b are groups, t triples, c a condition, n a number."""


@st.composite
def patterns(draw: st.DrawFn) -> str:
    numbers = iter(range(100))
    leaves = 5

    def triples(most: int) -> str:
        places = (VARIABLES * 3 + NODES, PREDICATES * 2 + VARIABLES, VARIABLES * 4 + NODES + LITERALS)
        count = draw(st.integers(1, most))
        return " ".join(" ".join([draw(st.sampled_from(p)) for p in places] + ["."]) for _ in range(count))

    def group(depth: int) -> str:
        nonlocal leaves
        kind = draw(st.integers(0, 5))
        if depth == 0 or leaves <= 0 or kind == 0:
            leaves -= 1
            if kind == 5:
                ends = draw(st.sampled_from(VARIABLES + NODES)), draw(st.sampled_from(VARIABLES * 2 + NODES))
                return f"{ends[0]} {draw(st.sampled_from(PATHS))} {ends[1]} ."
            return triples(3)
        form = draw(st.sampled_from(FORMS))
        return form.format(
            a=group(depth - 1),
            b=group(depth - 1) if "{b}" in form else "",
            t=triples(2) if "{t}" in form else "",
            c=draw(st.sampled_from(CONDITIONS)) if "{c}" in form else "",
            n=next(numbers),
        )

    return group(3)


def answer(app: object, query: str, options: Options) -> list[str]:
    async def run() -> list[str]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:  # type: ignore[arg-type]
            async for update in follow_async(
                query, "http://weir.test/d", client=client, clock=Crank(), options=options
            ):
                return texts(update.added)
        return []

    return asyncio.run(run())


@settings(max_examples=120 * EXAMPLES, deadline=None)
@given(quads, patterns(), st.sampled_from([2, 100]), st.booleans())
def test_any_query_has_the_answers_it_has_over_everything(
    data: list[Quad], pattern: str, page_size: int, plain: bool
) -> None:
    query = f"SELECT * {{ {pattern} }}"
    app = FragmentsApp([Dataset("d", data, page_size=page_size)], clock=lambda: T0)
    options = Options(plain=plain, limits=ClientLimits(bulk=2))
    assert answer(app, query, options) == direct(query, data, [], T0)


@settings(max_examples=40 * EXAMPLES, deadline=None)
@given(quads, patterns())
def test_also_over_a_plain_server(data: list[Quad], pattern: str) -> None:
    query = f"SELECT * {{ {pattern} }}"
    server = NaiveServer(lambda: data, page_size=3)
    assert answer(server, query, Options()) == direct(query, data, [], T0)


def test_few_requests_where_bindings_are_selective() -> None:
    """A star join of one subject out of a thousand: no large fragment is read whole."""
    data: list[Quad] = [
        (f"<{EX}s{n}>", f"<{EX}{p}>", f'"{n}"', "") for n in range(1000) for p in ("a", "b", "c")
    ]
    app = FragmentsApp([Dataset("d", data)], clock=lambda: T0)
    query = f'SELECT * {{ ?s <{EX}a> ?x . ?s <{EX}b> "7" . ?s <{EX}c> ?y }}'
    assert len(answer(app, query, Options())) == 1
    assert app.responder.counters["requests"] < 16


def test_bindings_restricted_requests_are_an_order_of_magnitude_fewer() -> None:
    """A join of 200 bindings with a predicate of 10,000 triples: bulk requests, or one a binding."""
    data: list[Quad] = [(f"<{EX}s{n}>", f"<{EX}value>", f'"{n}"', "") for n in range(10_000)]
    data += [(f"<{EX}s{n}>", f"<{EX}group>", f"<{EX}g{n % 50}>", "") for n in range(10_000)]
    query = f"SELECT * {{ ?s <{EX}group> <{EX}g7> ; <{EX}value> ?x }}"
    counts = []
    for plain in (False, True):
        app = FragmentsApp([Dataset("d", data, page_size=50)], clock=lambda: T0)
        assert len(answer(app, query, Options(plain=plain))) == 200
        counts.append(app.responder.counters["requests"])
    assert counts[0] * 10 <= counts[1]


def test_an_answer_over_what_was_gathered_and_what_changed() -> None:
    query = parse(f"SELECT ?o {{ ?s <{EX}p> ?o }}", dialect="sparql")
    quads: list[Quad] = [(f"<{EX}s{n}>", f"<{EX}p>", f'"{n % 2}"', "") for n in range(3)]
    before, now = (evaluation.answer(query, some, T0) for some in (quads, quads[1:]))
    assert texts(before) == ['o="0"', 'o="0"', 'o="1"']
    added, removed = evaluation.changes(before, now)
    assert not added and texts(removed) == ['o="0"']
