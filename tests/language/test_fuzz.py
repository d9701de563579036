"""Bad input: mutated queries raise ``weir.SyntaxError`` or parse, never anything else, and never hang."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weir
from language.texts import SCALE
from shared import ROOT
from weir.explain import stages
from weir.language import write
from weir.language.algebra.query import canonical
from weir.language.syntax.lexer import Source, Tokens

RICH = (
    "PREFIX : <http://e/> BASE <http://b/> SELECT ?x (COUNT(*) AS ?n) FROM <g> { ?x :p/:q* [ :r "
    "(1 2.5 'z'@en) ] OPTIONAL { ?x !(:a|^:b) ?y FILTER (?y > 3 && !BOUND(?z)) } "
    "MINUS { GRAPH ?g { ?x a :C } } BIND (IF(?y IN (1, 2), STRLEN(STR(?x)), -1) AS ?w) "
    'VALUES (?a ?b) { (UNDEF """x""") } } '
    "GROUP BY ?x (STR(?y) AS ?k) HAVING (SUM(?y) < 1e3) ORDER BY DESC(?n) LIMIT 5 OFFSET 1",
    "PREFIX : <http://e/> REGISTER RSTREAM <out> AS SELECT * FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP 5s "
    'STARTING AT 2015-01-01T00:00:00Z REPORT WINDOW CLOSE, NON EMPTY CONTENT BAG TICK TIME 1s BOUNDS "(]"] '
    "PREVIOUS INSTANT EMIT AFTER 2s EMPTY WHERE { WINDOW ?w { ?s ?p ?o } }",
    "SELECT ?x FROM NAMED STREAM <s> [NOW - 5 MIN TO NOW - 30 S SLIDE 1 S] { ?x ?p 'caf\\u00e9' }",
)
SEEDS = [*RICH, *(path.read_text() for path in sorted((ROOT / "examples" / "languages").glob("*/*.rq")))]
SPLICES = [
    *"{}()[]<>.,;:?$@^|/*+-!&=\\\"'`#_% \n\t\0é☃",
    "\\u0041", "\\uD800", "\\U00110000", "SELECT", "{SELECT", "UNION", "FILTER", "EXISTS {", "NOT", "IN",
    "AS", "?x", "_:b", "a", "<", ">", "<<", "<a b>", "999999999999999999999", "1e400", "-5", "+", "PT", "P1Y",
    "10x", "[NOW]", "STREAM ?s", "WINDOW <w>", "FROM STREAM <s>", "REGISTER", '"""', "'''", "^^", "@en",
    "::", "a:b:c",
]  # fmt: skip


def mutated(text: str, source: random.Random) -> str:
    """The text with a few characters or tokens dropped, doubled, swapped or put in."""
    for _ in range(source.randint(1, 4)):
        kind = source.randrange(6)
        at = source.randrange(len(text) + 1)
        if kind == 0:
            text = text[:at] + text[at + source.randint(1, 12) :]
        elif kind == 1:
            text = text[:at] + source.choice(SPLICES) + text[at:]
        elif kind == 2:
            text = text[:at] + text[max(0, at - 20) :]
        elif kind == 3:
            other = source.choice(SEEDS)
            start = source.randrange(len(other))
            text = text[:at] + other[start : start + 30] + text[at:]
        else:
            words = text.split(" ")
            one, two = source.randrange(len(words)), source.randrange(len(words))
            words[one], words[two] = words[two], words[one]
            text = " ".join(words)
    return text


def check(text: str) -> None:
    start = time.perf_counter()
    try:
        query = weir.parse(text)
    except weir.SyntaxError as error:
        assert 1 <= error.line <= text.count("\n") + text.count("\r") + 1
        assert error.column >= 1 and str(error)
    else:
        assert canonical(weir.parse(write(query))) == canonical(query), text
    assert time.perf_counter() - start < 5, text


@settings(max_examples=200 * SCALE, deadline=None, print_blob=True)
@given(st.integers(0, 2**63))
def test_ten_thousand_mutated_queries(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(50):
        check(mutated(source.choice(SEEDS), source))


@settings(max_examples=300 * SCALE, deadline=None, print_blob=True)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * " + "{" * 10_000,
        "SELECT * " + "{" * 10_000 + "}" * 10_000,
        "SELECT * { FILTER " + "(" * 10_000 + "1" + ")" * 10_000 + " }",
        "SELECT * { FILTER (" + "!(" * 10_000 + "1" + ")" * 10_000 + ") }",
        "SELECT * { FILTER " + "EXISTS { FILTER " * 10_000 + "(1)" + "}" * 10_000 + " }",
        "SELECT * { ?x ?y " + "(" * 10_000 + ")" * 10_000 + " }",
        "SELECT * { ?x ?y " + "[ ?p " * 10_000 + "1" + "]" * 10_000 + " }",
        "SELECT * { ?x " + "(" * 10_000 + "<p>" + ")" * 10_000 + " ?y }",
        "SELECT * { ?x " + "^(" * 10_000 + "<p>" + ")" * 10_000 + " ?y }",
        "SELECT * " + "{ SELECT * " * 10_000 + "{}" + "}" * 10_000,
        "SELECT * { FILTER (" + "STR(" * 10_000 + "1" + ")" * 10_000 + ") }",
        "SELECT (" + "COUNT(" * 10_000 + "1" + ")" * 10_000 + " AS ?x) {}",
        "SELECT * { " + "OPTIONAL { " * 10_000 + "}" * 10_000 + " }",
        "SELECT * { " + "STREAM <s> [NOW] { " * 10_000,
    ],
    ids=lambda text: text[:28],
)
def test_nesting_ten_thousand_deep_is_refused_politely(text: str) -> None:
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(text)
    assert "deep" in caught.value.primary or "may not stand here" in caught.value.primary
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("before", "core", "after"),
    [
        ("{ ", "?x ?y ?z", "}"),
        ("{ ?a ?b ?c OPTIONAL { ", "", "} }"),
        ("{ ?a ?b ?c FILTER NOT EXISTS { ", "", "} }"),
        ("{ SELECT * { ?a ?b ?c . ", "", "} }"),
        ("{ SELECT ?a { ?a ?b ?c . ", "", "} GROUP BY ?a }"),
        ("{ BIND (EXISTS { ", "", "} AS ?x) }"),
        ("STREAM <s> [NOW] { GRAPH ?g { ", "", "} }"),
    ],
)
def test_what_nests_deep_enough_to_be_taken_can_be_handled(before: str, core: str, after: str) -> None:
    taken = 0
    for depth in range(1, 130):
        text = "SELECT * { " + before * depth + core + after * depth + " }"
        try:
            query = weir.parse(text)
        except weir.SyntaxError as error:
            assert "deep" in error.primary
            break
        taken = depth
        if depth % 20 == 0 or depth > 30:
            assert canonical(weir.parse(write(query))) == canonical(query)
            assert hash(query) and repr(query) and all(stages(query).values())
    assert taken >= 30


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { " + "OPTIONAL { ?x ?y ?z } " * 10_000 + "}",
        "SELECT * { " + "MINUS { ?x ?y ?z } " * 10_000 + "}",
        "SELECT * { ?x " + "/".join(["<p>"] * 10_000) + " ?y }",
        "SELECT * { ?x " + "|".join(["<p>"] * 10_000) + " ?y }",
        "SELECT * { FILTER (" + " + ".join(["1"] * 10_000) + ") }",
        "SELECT * { " + "".join(f"BIND ({n} AS ?v{n}) " for n in range(10_000)) + "}",
        "SELECT * { " + "?x <p>* ?y . " * 10_000 + "}",
        "SELECT ?x { " + "{ " * 50 + ("OPTIONAL { ?x ?y ?z } " * 100 + "} ") * 50 + "}",
        "SELECT * { FILTER (" + "(" * 50 + "1" + (" + 1" * 100 + ")") * 50 + ") }",
    ],
    ids=lambda text: text[:28],
)
def test_chains_ten_thousand_long_are_refused_politely(text: str) -> None:
    with pytest.raises(weir.SyntaxError, match=r"more than|too deep"):
        weir.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { " + "?x <p> ?y . " * 10_000 + "}",
        "SELECT * { FILTER (" + " || ".join(["?x = 1"] * 10_000) + ") }",
        "SELECT * { " + " UNION ".join(["{ ?x <p> ?y }"] * 10_000) + " }",
        "SELECT * { VALUES ?x { " + "1 " * 20_000 + "} }",
        "SELECT * { FILTER (?x IN (" + ", ".join(map(str, range(10_000))) + ")) }",
        "SELECT " + "?x " * 10_000 + "{}",
    ],
    ids=lambda text: text[:28],
)
def test_what_is_long_but_flat_is_taken(text: str) -> None:
    assert weir.parse(write(weir.parse(text))) == weir.parse(text)


@pytest.mark.parametrize(
    "text",
    ["a." * 50_000 + "~", "'''" + "x" * 100_000, '"' * 100_000, "<" * 100_000, "%4" * 50_000, "?" * 100_000,
     "é." * 50_000, "\\" * 100_000, "_:a." * 25_000, "1." * 50_000],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_the_lexer_takes_linear_time(text: str) -> None:
    start = time.perf_counter()
    Tokens(Source(text))
    assert time.perf_counter() - start < 10
