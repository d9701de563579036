"""Random query texts for property tests: strategies that follow the grammar."""

from __future__ import annotations

import os

from hypothesis import strategies as st

SCALE = max(1, int(float(os.environ.get("WEIR_EXAMPLES", "1"))))
"""Multiplies the number of examples of every property test."""

VARIABLES = st.sampled_from(["?x", "?y", "?z", "$w", "?long_name1"])
IRIS = st.sampled_from(["<http://e/a>", "ex:b", "ex:c-d", ":p.q", "a:", "<rel>", "ex:%41\\,x"])
LITERALS = st.sampled_from(
    ['"s"', '"t"@en-GB', '"5"^^xsd:byte', "5", "-5", "+1.5", "-.5", "1e3", "true", '"""a"b\nc"""', r"'q\n\"'"]
)
BLANKS = st.sampled_from(["[]", "[ :p ?x ]", "( 1 ?y )", "()"])
NODES = st.one_of(VARIABLES, IRIS, LITERALS, BLANKS)
PROLOGUE = (
    "PREFIX : <http://e/> PREFIX ex: <http://ex/> PREFIX a: <http://a#> "
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
)

PATHS = st.recursive(
    st.sampled_from([":p", "ex:q", "a", "!:p", "!(:p|^ex:q)", "!()", "^:p"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("({0[0]}/{0[1]})".format),
        st.tuples(inner, inner).map("({0[0]}|{0[1]})".format),
        st.tuples(inner, inner).map("{0[0]}/{0[1]}".format),
        inner.map("^({})".format),
        inner.map("({})*".format),
        inner.map("({})+".format),
        inner.map("({})?".format),
    ),
    max_leaves=5,
)
VERBS = st.one_of(st.just("a"), VARIABLES, st.just(":p"), PATHS)
TRIPLES = st.tuples(st.one_of(VARIABLES, IRIS, BLANKS), VERBS, NODES).map("{0[0]} {0[1]} {0[2]} .".format)


def _calls(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["||", "&&"]), inner).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(
            inner, st.sampled_from(["||", "&&", "+", "*"]), inner, st.sampled_from(["+", "-", "/"]), inner
        ).map("({0[0]} {0[1]} {0[2]} {0[3]} {0[4]})".format),
        st.tuples(inner, st.sampled_from(["=", "!=", "<", ">=", "+", "-", "*", "/"]), inner).map(
            "({0[0]} {0[1]} {0[2]})".format
        ),
        inner.map("(!{})".format),
        inner.map("(-{})".format),
        inner.map("(+ {})".format),
        st.tuples(inner, inner).map("({0[0]} NOT IN ({0[1]}, 7))".format),
        st.tuples(inner, inner).map("IF({0[0]}, {0[1]}, 1)".format),
        st.tuples(inner, inner).map("COALESCE({0[0]}, {0[1]})".format),
        inner.map("STR({})".format),
        st.tuples(inner, inner).map("REGEX({0[0]}, {0[1]}, 'i')".format),
        inner.map("xsd:integer({})".format),
        st.just("BOUND(?x)"),
        TRIPLES.map("EXISTS {{ {} }}".format),
        TRIPLES.map("NOT EXISTS {{ {} }}".format),
    )


EXPRESSIONS = st.recursive(st.one_of(VARIABLES, LITERALS, st.just("<http://e/a>")), _calls, max_leaves=6)
AGGREGATES = st.sampled_from(
    [
        "COUNT(*)",
        "COUNT(DISTINCT ?x)",
        "SUM(?y + 1)",
        "GROUP_CONCAT(?x ; SEPARATOR = ', ')",
        "MAX(?z) - MIN(?z)",
    ]
)


def _elements(group: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        TRIPLES,
        TRIPLES,
        group,
        group.map("OPTIONAL {}".format),
        group.map("MINUS {}".format),
        st.tuples(group, group).map("{0[0]} UNION {0[1]}".format),
        group.map("GRAPH ?g {}".format),
        group.map("SERVICE SILENT <http://remote/> {}".format),
        EXPRESSIONS.map("FILTER ({})".format),
        st.tuples(EXPRESSIONS, st.integers(0, 10**9)).map("BIND ({0[0]} AS ?fresh{0[1]})".format),
        st.just("VALUES (?x ?y) { (1 UNDEF) (<a> 'b') }"),
    )


def _groups(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    listed = st.lists(_elements(inner), max_size=4).map(lambda found: "{ " + " ".join(found) + " }")
    sub = st.tuples(inner, st.sampled_from(["", "ORDER BY ?x", "LIMIT 3 OFFSET 1"])).map(
        "{{ SELECT DISTINCT ?x ?y {0[0]} {0[1]} }}".format
    )
    counted = st.tuples(inner, AGGREGATES).map("{{ SELECT ?x ({0[1]} AS ?n) {0[0]} GROUP BY ?x }}".format)
    return st.one_of(listed, listed, sub, counted)


GROUPS = st.recursive(st.sampled_from(["{}", "{ ?x :p ?y }"]), _groups, max_leaves=6)

MODIFIERS = st.sampled_from(
    [
        "",
        "ORDER BY DESC(?x) (?y + 1)",
        "LIMIT 5",
        "OFFSET 2 LIMIT 5",
        "VALUES ?x { 1 UNDEF }",
        "HAVING (?x > 1)",
    ]
)
FORMS = st.one_of(
    st.tuples(GROUPS, MODIFIERS).map("SELECT * {0[0]} {0[1]}".format),
    st.tuples(GROUPS, MODIFIERS).map("SELECT REDUCED ?x ?y {0[0]} {0[1]}".format),
    st.tuples(EXPRESSIONS, GROUPS, MODIFIERS).map("SELECT ({0[0]} AS ?made) ?x {0[1]} {0[2]}".format),
    st.tuples(AGGREGATES, GROUPS, EXPRESSIONS).map(
        "SELECT ?k ({0[0]} AS ?n) {0[1]} GROUP BY ({0[2]} AS ?k) (STR(?x)) "
        "HAVING (COUNT(*) > 1) ORDER BY ?y".format
    ),
    st.tuples(GROUPS, MODIFIERS).map("CONSTRUCT {{ ?x :p [ :q ?y ] }} WHERE {0[0]} {0[1]}".format),
    st.tuples(GROUPS, MODIFIERS).map("ASK {0[0]} {0[1]}".format),
    st.tuples(GROUPS, MODIFIERS).map("DESCRIBE ?x <http://e/a> WHERE {0[0]} {0[1]}".format),
)
QUERIES = FORMS.map(lambda text: PROLOGUE + text)

# Windows

DURATIONS = st.sampled_from(["PT10S", "P1DT2H", "10m", "500ms", "PT0.25S", "5"])
SHAPES = st.one_of(
    DURATIONS.map("RANGE {}".format),
    st.tuples(DURATIONS, DURATIONS).map("RANGE {0[0]} STEP {0[1]}".format),
    DURATIONS.map("RANGE {} STEP MESSAGE".format),
    st.sampled_from(["NOW", "ALL", "TRIPLES 3", "ELEMENTS 2", "TRIPLES 6 STEP 2", "ELEMENTS 4 STEP 4"]),
    st.just("FROM NOW-PT35M TO NOW-PT5M STEP PT5M"),
)
OPTIONS = st.lists(
    st.sampled_from(
        [
            'STARTING AT "2015-06-01T00:00:00Z"',
            "REPORT CONTENT CHANGE, NON EMPTY",
            "REPORT PERIODIC PT7S",
            "REPORT NON EMPTY",
            "CONTENT BAG",
            "TICK TIME PT1S",
            "LATENESS PT2S",
            "AHEAD P1D",
            'BOUNDS "(]"',
        ]
    ),
    unique_by=lambda option: option.split()[0],
    max_size=3,
).map(" ".join)
BRACKETS = st.tuples(SHAPES, OPTIONS).map("[{0[0]} {0[1]}]".format)
OPERATORS = st.sampled_from(["RSTREAM", "ISTREAM", "DSTREAM", ""])
SETTINGS = st.sampled_from(["", "PREVIOUS INSTANT", "EMIT AFTER PT5S EMPTY", "EMPTY", "PREVIOUS EVALUATION"])
RSPQL = st.tuples(OPERATORS, BRACKETS, BRACKETS, SETTINGS, st.booleans(), GROUPS, GROUPS).map(
    lambda p: (
        f"{PROLOGUE}{'REGISTER STREAM <out> AS ' if p[4] else ''}SELECT {p[0]} * "
        f"FROM NAMED WINDOW <w1> ON <s> {p[1]} FROM WINDOW :w2 ON STREAM :s {p[2]} "
        f"{p[3]} WHERE {{ WINDOW <w1> {p[5]} {p[6]} }}"
    )
)
UNITS = st.sampled_from(["10m", "5s", "500ms", "1d", "1m30s"])
CQELS_SHAPES = st.one_of(
    UNITS.map("RANGE {}".format),
    st.tuples(UNITS, UNITS).map("RANGE {0[0]} SLIDE {0[1]}".format),
    UNITS.map("RANGE {} TUMBLING".format),
    st.sampled_from(["NOW", "ALL", "TRIPLES 3"]),
)
CQELS = st.tuples(CQELS_SHAPES, CQELS_SHAPES, GROUPS, GROUPS).map(
    lambda p: f"{PROLOGUE}SELECT * {{ STREAM <s> [{p[0]}] {p[2]} STREAM [{p[1]}] ?v {p[3]} }}"
)
CSPARQL = st.tuples(UNITS, UNITS, GROUPS, st.sampled_from(["", "EMPTY"])).map(
    lambda p: (
        f"REGISTER QUERY name AS {PROLOGUE}SELECT * FROM STREAM <s> [RANGE {p[0]} STEP {p[1]}] "
        f"FROM NAMED STREAM <s> [RANGE TRIPLES 4] {p[3]} WHERE {p[2]}"
    )
)
SPARQLSTREAM = st.tuples(OPERATORS, GROUPS).map(
    lambda p: (
        f"{PROLOGUE}SELECT {p[0]} * FROM NAMED STREAM <s> [NOW - 9 S TO NOW - 2 S SLIDE 1 S] "
        f"FROM NAMED STREAM <s> [NOW - 5 MIN] FROM NAMED STREAM <s> [TRIPLES 7] WHERE {p[1]}"
    )
)
STREAM_QUERIES = st.one_of(RSPQL, CQELS, CSPARQL, SPARQLSTREAM)
