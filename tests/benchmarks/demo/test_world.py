"""The demo's conference: the same from the same seed, and in the formats that Weir reads."""

from __future__ import annotations

from itertools import islice

import pyoxigraph as ox

import weir
from weir_bench.demo.world import QUERIES, ROOMS, World, detection


def test_a_world_follows_from_its_seed() -> None:
    assert World.made(seed=3) == World.made(seed=3) != World.made(seed=4)
    world = World.made(people=10, papers=5)
    assert (len(world.people), len(world.papers)) == (10, 5)


def test_neighbours_are_so_both_ways() -> None:
    neighbours = World.made().neighbours
    assert all(room in neighbours[other] for room in range(len(ROOMS)) for other in neighbours[room])


def test_people_move_to_the_next_room_only() -> None:
    world = World.made()
    seen: dict[int, int] = {}
    for person, room in islice(world.walk(), 2000):
        assert seen.setdefault(person, room) in (room, *world.neighbours[room])
        seen[person] = room


def test_graphs_stream_and_queries_can_be_read() -> None:
    world = World.made()
    for text in (world.floorplan(), world.library()):
        assert sum(1 for _ in ox.parse(text, format=ox.RdfFormat.TURTLE)) > 40
    time, statement = detection(1000, 1, 2).split("\t")
    assert (time, len(list(ox.parse(statement, format=ox.RdfFormat.N_TRIPLES)))) == ("1000", 1)
    assert [len(weir.parse(text).streams) for text in QUERIES.values()] == [1, 1, 1]
