"""A social network after LSBench (Le-Phuoc et al. 2012): who follows whom is static, posts, likes and
check-ins come. Users follow popular ones; likes are of recent posts."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl

from weir_bench.suites.suite import BLOCK, Question, Suite, stamped

SEED = 7
USERS, PLACES, TAGS = 400, 40, 60
_S = "http://example.org/social#"
_START = 1_700_000_000_000
_GAP = 10
"""Milliseconds between events."""
PREFIXES = f"PREFIX s: <{_S}>\n"


def block(number: int, events: int) -> pl.DataFrame:
    """The events of a block: of ten, three are posts, five likes of late posts, two check-ins."""
    rng = np.random.default_rng((SEED, number))
    event = np.arange(number * BLOCK, number * BLOCK + events, dtype=np.int64)
    pick = rng.integers(0, 1 << 30, (4, events))
    tens = event // 10 - pick[1] % np.minimum(event // 10 + 1, 20)
    frame = pl.DataFrame(
        {
            "event": event,
            "time": _START + event * _GAP,
            "kind": event % 10,
            "user": (pick[0] % USERS) * (pick[3] % USERS) // USERS,
            "liked": 10 * tens + pick[2] % 3,
            "tag": (pick[1] % TAGS) * (pick[2] % TAGS) // TAGS,
            "place": pick[1] % PLACES,
        }
    )
    node = f"<{_S}e{{event}}>"
    posts = frame.filter(pl.col("kind") < 3).select(
        "event",
        stamped(
            "time",
            f"{node} <{_S}by> <{_S}u{{user}}>",
            f"{node} <{_S}tag> <{_S}t{{tag}}>",
            f'{node} <{_S}text> "About {{tag}}"',
        ),
    )
    likes = frame.filter(pl.col("kind").is_between(3, 7)).select(
        "event", stamped("time", f"<{_S}u{{user}}> <{_S}likes> <{_S}e{{liked}}>")
    )
    visits = frame.filter(pl.col("kind") > 7).select(
        "event", stamped("time", f"<{_S}u{{user}}> <{_S}visits> <{_S}place{{place}}>")
    )
    return pl.concat([posts, likes, visits]).sort("event")


@lru_cache(maxsize=1)
def _follows() -> list[tuple[int, int]]:
    rng = np.random.default_rng(SEED)
    one = rng.integers(0, USERS, USERS * 8)
    other = rng.integers(0, USERS, USERS * 8) * rng.integers(0, USERS, USERS * 8) // USERS
    return sorted({(int(a), int(b)) for a, b in zip(one, other, strict=True) if a != b})


def static() -> list[str]:
    """Who follows whom, what users are called, and in which city places are."""
    follows = [f"<{_S}u{one}> <{_S}follows> <{_S}u{other}> .\n" for one, other in _follows()]
    names = [f'<{_S}u{user}> <{_S}name> "User {user}" .\n' for user in range(USERS)]
    return follows + names + [f"<{_S}place{n}> <{_S}city> <{_S}city{n % 8}> .\n" for n in range(PLACES)]


QUESTIONS = (
    Question("S1", "a filter", "?post", "?post s:by s:u3 ."),
    Question(
        "S2", "static data", "?name ?post", "?post s:by ?who .", "s:u5 s:follows ?who . ?who s:name ?name ."
    ),
    Question(
        "S3",
        "a join of two kinds of events",
        "?fan ?who",
        "?post s:by ?who . ?fan s:likes ?post .",
        range_ms=4_000,
        step_ms=1_000,
    ),
    Question(
        "S4",
        "a join of three, with static data",
        "?fan ?who ?tag",
        "?post s:by ?who ; s:tag ?tag . ?fan s:likes ?post .",
        "?fan s:follows ?who .",
        range_ms=4_000,
        step_ms=1_000,
    ),
    Question(
        "S5",
        "friends in one place",
        "?one ?other ?place",
        "?one s:visits ?place . ?other s:visits ?place .",
        "?one s:follows ?other .",
        range_ms=5_000,
        step_ms=1_000,
    ),
    Question(
        "S6",
        "absence: posts that nobody likes",
        "?post ?who",
        "?post s:by ?who . FILTER NOT EXISTS { ?fan s:likes ?post }",
        range_ms=4_000,
        step_ms=2_000,
    ),
    Question(
        "S7",
        "top-k",
        "?tag (COUNT(DISTINCT ?post) AS ?n)",
        "?post s:tag ?tag .",
        tail="GROUP BY ?tag ORDER BY DESC(?n) ?tag LIMIT 3",
        range_ms=10_000,
        step_ms=1_000,
    ),
    Question(
        "S8",
        "an aggregate over static groups",
        "?city (COUNT(DISTINCT ?who) AS ?n)",
        "?who s:visits ?place .",
        "?place s:city ?city .",
        tail="GROUP BY ?city",
        range_ms=10_000,
        step_ms=2_000,
    ),
)
SOCIAL = Suite("lsbench", PREFIXES, block, static, QUESTIONS, {})
