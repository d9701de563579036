"""NEXMark in RDF (Tucker et al. 2002; the questions as Apache Beam and Flink number them).

Of 50 events 1 is a person, 3 are auctions and 46 are bids, a millisecond apart; each is a message. Half of
the bids go to the latest hot auction. Categories are static. An auction ends some seconds after it opens.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from weir_bench.suites.suite import BLOCK, Question, Suite, stamped

SEED = 42
CATEGORIES = 10
_N = "http://example.org/nexmark#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_START = 1_700_000_000_000
"""When the stream begins, in milliseconds: a whole 10 s."""
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
_CITIES = ("Phoenix", "Los Angeles", "Boise", "Portland", "Seattle", "Cheyenne")
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple", "channel-77")
PREFIXES = f"PREFIX n: <{_N}>\nPREFIX xsd: <{_XSD}>\n"


def block(number: int, events: int) -> pl.DataFrame:
    """The events of a block. Every 50th is a person, the three after it are auctions, the rest are bids."""
    rng = np.random.default_rng((SEED, number))
    event = np.arange(number * BLOCK, number * BLOCK + events, dtype=np.int64)
    group, place = event // 50, event % 50
    pick = rng.integers(0, 1 << 30, (6, events))
    hot = pick[0] % 2 == 0
    # Of the three auctions of a group, the first is hot; bids go back by up to 20 groups.
    back = np.where(hot, 0, pick[1] % np.minimum(group + 1, 20))
    slot = np.where(hot, 0, pick[2] % 3)
    frame = pl.DataFrame(
        {
            "event": event,
            "time": _START + event,
            "place": place,
            "group": group,
            "auction": 3 * (group - back) + slot,
            "own": 3 * group + place - 1,
            "person": group - pick[3] % np.minimum(group + 1, 30),
            "price": 100 + pick[4] % 9_900,
            "category": 10 + pick[5] % CATEGORIES,
            "expires": _START + event + 2_000 + pick[4] % 8_000,
            "channel": pl.Series(_CHANNELS).gather(pick[5] % len(_CHANNELS)),
            "state": pl.Series(_STATES).gather(pick[5] % len(_STATES)),
            "city": pl.Series(_CITIES).gather(pick[5] % len(_CITIES)),
        }
    ).with_columns(_date("time"), _date("expires"))
    people = frame.filter(pl.col("place") == 0).select(
        "event",
        stamped(
            "time",
            f'<{_N}p{{group}}> <{_N}name> "Person {{group}}"',
            f'<{_N}p{{group}}> <{_N}city> "{{city}}"',
            f'<{_N}p{{group}}> <{_N}state> "{{state}}"',
        ),
    )
    auctions = frame.filter(pl.col("place").is_between(1, 3)).select(
        "event",
        stamped(
            "time",
            f'<{_N}a{{own}}> <{_N}item> "Item {{own}}"',
            f"<{_N}a{{own}}> <{_N}seller> <{_N}p{{person}}>",
            f"<{_N}a{{own}}> <{_N}category> <{_N}c{{category}}>",
            f'<{_N}a{{own}}> <{_N}reserve> "{{price}}"^^<{_XSD}integer>',
            f'<{_N}a{{own}}> <{_N}expires> "{{expires_date}}"^^<{_XSD}dateTime>',
        ),
    )
    bids = frame.filter(pl.col("place") > 3).select(
        "event",
        stamped(
            "time",
            f"<{_N}b{{event}}> <{_N}auction> <{_N}a{{auction}}>",
            f"<{_N}b{{event}}> <{_N}bidder> <{_N}p{{person}}>",
            f'<{_N}b{{event}}> <{_N}price> "{{price}}"^^<{_XSD}integer>',
            f'<{_N}b{{event}}> <{_N}at> "{{time_date}}"^^<{_XSD}dateTime>',
            f'<{_N}b{{event}}> <{_N}channel> "{{channel}}"',
            f'<{_N}b{{event}}> <{_N}url> "https://www.nexmark.com/{{channel}}/{{category}}/item.htm"',
        ),
    )
    return pl.concat([people, auctions, bids]).sort("event")


def _date(column: str) -> pl.Expr:
    date = pl.from_epoch(column, time_unit="ms").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
    return date.alias(f"{column}_date")


def static() -> list[str]:
    """What the categories are called, and what each is part of."""
    return [
        line
        for number in range(10, 10 + CATEGORIES)
        for line in (
            f'<{_N}c{number}> <{_N}label> "Category {number}" .\n',
            f"<{_N}c{number}> <{_N}part> <{_N}part{number % 3}> .\n",
        )
    ]


_BID = "?b n:auction ?a ; n:price ?p"
_WON = (
    "{ SELECT ?a ?c (MAX(?p) AS ?final) WHERE { ?a n:category ?c ; n:expires ?e ; n:reserve ?r . "
    "?b n:auction ?a ; n:price ?p ; n:at ?t . FILTER (?p >= ?r && ?t <= ?e && ?e <= NOW()) } GROUP BY ?a ?c }"
)
QUESTIONS = (
    Question("Q0", "all of it", "?b ?a ?who ?p", f"{_BID} ; n:bidder ?who ."),
    Question("Q1", "arithmetic", "?b ?a ?euro", f"{_BID} . BIND (?p * 0.908 AS ?euro)"),
    Question("Q2", "a filter", "?a ?p", f"{_BID} . FILTER (?a IN (n:a3, n:a60, n:a99, n:a120))"),
    Question(
        "Q3",
        "a join",
        "?name ?city ?state ?a",
        "?a n:seller ?who ; n:category n:c10 . ?who n:name ?name ; n:city ?city ; n:state ?state . "
        'FILTER (?state IN ("OR", "ID", "CA"))',
        range_ms=20_000,
        step_ms=10_000,
    ),
    Question(
        "Q4",
        "aggregates of aggregates",
        "?c (AVG(?final) AS ?mean)",
        _WON,
        tail="GROUP BY ?c",
        range_ms=20_000,
        step_ms=10_000,
    ),
    Question(
        "Q5",
        "top-k over a window that slides",
        "?a (COUNT(?b) AS ?n)",
        "?b n:auction ?a .",
        tail="GROUP BY ?a ORDER BY DESC(?n) ?a LIMIT 1",
        range_ms=10_000,
        step_ms=2_000,
    ),
    Question(
        "Q7",
        "the greatest of all, and who it is",
        "?b ?a ?p",
        "{ SELECT (MAX(?q) AS ?p) WHERE { ?x n:price ?q } } ?b n:price ?p ; n:auction ?a .",
        range_ms=10_000,
        step_ms=10_000,
    ),
    Question(
        "Q8",
        "a join of two kinds of events",
        "?who ?name ?a",
        "?who n:name ?name . ?a n:seller ?who .",
        range_ms=10_000,
        step_ms=10_000,
    ),
    Question("Q9", "the winners", "?a ?c ?final", _WON, range_ms=20_000, step_ms=10_000),
    Question("Q13", "static data", "?a ?label", "?a n:category ?c .", "?c n:label ?label ."),
    Question(
        "Q14",
        "functions",
        "?b ?euro ?kind",
        f"{_BID} ; n:at ?t . BIND (?p * 0.908 AS ?euro) "
        'BIND (IF(HOURS(?t) >= 8 && HOURS(?t) <= 18, "day", "night") AS ?kind) FILTER (?euro > 5000)',
    ),
    Question(
        "Q16",
        "many aggregates of one group",
        "?ch (COUNT(?b) AS ?n) (SUM(IF(?p < 5000, 1, 0)) AS ?low) (COUNT(DISTINCT ?who) AS ?people)",
        "?b n:channel ?ch ; n:bidder ?who ; n:price ?p .",
        tail="GROUP BY ?ch",
        range_ms=10_000,
        step_ms=10_000,
    ),
    Question(
        "Q18",
        "absence: nothing later",
        "?a ?who ?p",
        f"{_BID} ; n:bidder ?who ; n:at ?t . "
        "FILTER NOT EXISTS { ?later n:auction ?a ; n:bidder ?who ; n:at ?u . FILTER (?u > ?t) }",
        range_ms=2_000,
        step_ms=2_000,
    ),
    Question(
        "Q20",
        "a join of bids with what they are for",
        "?b ?a ?p ?item",
        f"{_BID} . ?a n:category n:c10 ; n:item ?item .",
        range_ms=10_000,
        step_ms=2_000,
    ),
    Question(
        "Q21",
        "regular expressions",
        "?b ?ch ?id",
        '?b n:channel ?ch . BIND (IF(REGEX(?ch, "^channel-"), STRAFTER(?ch, "-"), LCASE(?ch)) AS ?id)',
    ),
    Question(
        "Q22",
        "strings cut up",
        "?b ?one ?two",
        '?b n:url ?u . BIND (STRAFTER(?u, "nexmark.com/") AS ?path) '
        'BIND (STRBEFORE(?path, "/") AS ?one) BIND (STRBEFORE(STRAFTER(?path, "/"), "/") AS ?two)',
    ),
)
UNSAID = {
    "Q6": "the last ten auctions of each seller: a count of rows for each group is no window of RSP-QL",
    "Q10": "writes the stream to files by time: a sink, not a question",
    "Q11": "sessions: windows whose end depends on a gap in the data of each bidder",
    "Q12": "windows of the clock on the wall; here time is event time, so that answers can be repeated",
    "Q15": "is Q16 without its channel",
    "Q17": "is Q16 by auction and day",
    "Q19": "the ten highest bids of each auction: LIMIT holds for a query, not for a group",
}
AUCTIONS = Suite("nexmark", PREFIXES, block, static, QUESTIONS, UNSAID)
