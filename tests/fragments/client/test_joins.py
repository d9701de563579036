"""Joins of bindings, and basic graph patterns solved over a source."""

from __future__ import annotations

import asyncio

import pytest

from fragments_kit import EX, dataset, opened
from weir.errors import RemoteError
from weir.fragments.client.detect import Dynamics
from weir.fragments.client.evaluation import UNIT, Rows, join, solve, union
from weir.fragments.client.matcher import Matcher, StaticCache
from weir.fragments.protocol.annotation import Annotation, Quad
from weir.fragments.server import FragmentsApp
from weir.rdf.terms import Variable

LEFT = Rows(("a", "b"), (("1", "x"), ("2", "y"), ("3", "x")))
RIGHT = Rows(("b", "c"), (("x", "p"), ("x", "q"), ("z", "r")))


def test_a_natural_join() -> None:
    found = join(LEFT, RIGHT, 10)
    assert found.names == ("a", "b", "c")
    assert found.rows == (("1", "x", "p"), ("1", "x", "q"), ("3", "x", "p"), ("3", "x", "q"))
    assert join(UNIT, LEFT, 10) == LEFT


def test_a_join_is_bounded() -> None:
    with pytest.raises(RemoteError, match="more than 3 rows"):
        join(LEFT, RIGHT, 3)


def test_a_union_keeps_the_variables_of_all() -> None:
    assert union([LEFT, RIGHT]) == Rows(("b",), (("x",), ("y",), ("z",)))


def test_projection_keeps_each_row_once() -> None:
    assert LEFT.project({"b", "z"}) == Rows(("b",), (("x",), ("y",)))


def test_a_basic_graph_pattern_is_solved_part_by_part() -> None:
    quads: list[Quad] = [(f"<{EX}s{n}>", f"<{EX}in>", f"<{EX}c{n % 2}>", "") for n in range(50)]
    quads += [(f"<{EX}c1>", f"<{EX}name>", '"one"', ""), (f"<{EX}s3>", f"<{EX}big>", '"yes"', "")]
    app = FragmentsApp([dataset(quads, [], Annotation(), page_size=10)])
    s, c, name = Variable("s"), Variable("c"), Variable("name")

    async def run() -> tuple[Rows, list[Quad], int]:
        async with opened(app) as source:
            matcher = Matcher(source, Dynamics(source, ()), StaticCache(source), 0)
            patterns = [
                (s, f"<{EX}in>", c, ""),
                (c, f"<{EX}name>", name, ""),
                (s, f"<{EX}big>", '"yes"', ""),
            ]
            rows, used = await solve(patterns, matcher, UNIT)
            return rows, used, source.pages.requests

    rows, used, requests = asyncio.run(run())
    assert [dict(zip(rows.names, row, strict=True)) for row in rows.rows] == [
        {"s": f"<{EX}s3>", "c": f"<{EX}c1>", "name": '"one"'}
    ]
    assert {quads[3], quads[50], quads[51]} <= set(used) and requests < 10
