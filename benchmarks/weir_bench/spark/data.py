"""What ``weir bench spark`` feeds: sightings as stream files, a floor plan, the queries, a live generator.

Rooms are many enough that Q2 gives about one result per triple at the rate of the files.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

LV = "http://deri.org/floorplan/"
RFID = "http://deri.org/streams/rfid"
FLOORPLAN = LV
ROOMS = 900
PEOPLE = 500
DOORS = 3
RATE = 100
"""Sightings a second of event time in files."""
EPOCH = 1_300_000_000_000

FILTER = f"""PREFIX lv: <{LV}>
SELECT ?person ?room
WHERE {{ STREAM <{RFID}> [NOW] {{ ?person lv:detectedAt ?room }} FILTER (?person = lv:person7) }}
"""
Q2 = f"""PREFIX lv: <{LV}>
CONSTRUCT {{ ?person1 lv:reachable ?person2 }}
FROM NAMED <{FLOORPLAN}>
WHERE {{
  STREAM <{RFID}> [NOW]      {{ ?person1 lv:detectedAt ?loc1 }}
  STREAM <{RFID}> [RANGE 3s] {{ ?person2 lv:detectedAt ?loc2 }}
  GRAPH <{FLOORPLAN}>        {{ ?loc1 lv:connected ?loc2 }}
}}
"""
AGGREGATE = f"""PREFIX lv: <{LV}>
REGISTER RSTREAM <aggregate> AS
SELECT ?room (COUNT(*) AS ?sightings)
FROM NAMED WINDOW <w> ON <{RFID}> [RANGE PT60S STEP PT10S]
WHERE {{ WINDOW <w> {{ ?person lv:detectedAt ?room }} }}
GROUP BY ?room
"""
QUERIES = {"filter": FILTER, "Q2": Q2, "aggregate": AGGREGATE}

LIVE_ROWS = 1_000_000
_SPAN = LIVE_ROWS // RATE
MILLION = f"""PREFIX lv: <{LV}>
SELECT ?one ?other
WHERE {{
  STREAM <{RFID}> [NOW]            {{ ?one lv:detectedAt ?place }}
  STREAM <{RFID}> [RANGE {_SPAN}s] {{ ?other lv:detectedAt ?place }}
  FILTER (?one != ?other)
}}
"""
"""A join with a window of a million rows."""


def write_floorplan(path: Path) -> None:
    """Rooms in a ring, each with doors to its next neighbours."""
    lines = [
        f"<{LV}room{room}> <{LV}connected> <{LV}room{(room + step) % ROOMS}> .\n"
        for room in range(ROOMS)
        for step in range(1, DOORS + 1)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def write_sightings(path: Path, first: int, count: int, rooms: int = ROOMS, people: int = PEOPLE) -> None:
    """Sightings number ``first`` onwards, a message each; the same numbers give the same lines."""
    dice = np.random.default_rng(first)
    time_ = EPOCH + np.arange(first, first + count) * (1000 // RATE)
    parts = [
        pl.Series(time_).cast(pl.String),
        pl.lit(f"\t<{LV}person"),
        pl.Series(dice.integers(0, people, count)).cast(pl.String),
        pl.lit(f"> <{LV}detectedAt> <{LV}room"),
        pl.Series(dice.integers(0, rooms, count)).cast(pl.String),
        pl.lit("> .\n"),
    ]
    lines = pl.select(pl.concat_str(parts)).to_series()
    partial = path.with_name(f".{path.name}.partial")
    with open(partial, "wb") as file:
        for at in range(0, count, 100_000):
            file.write("".join(lines.slice(at, 100_000).to_list()).encode())
    os.replace(partial, path)


def write_files(folder: Path, files: int, lines: int, **shape: int) -> list[Path]:
    """``files`` files of ``lines`` sightings each."""
    folder.mkdir()
    paths = [folder / f"{number:04d}.tnq" for number in range(files)]
    for number, path in enumerate(paths):
        write_sightings(path, number * lines, lines, **shape)
    return paths


class Generator(threading.Thread):
    """Sightings stamped with the clock, ``rate`` a second, in small files that appear whole."""

    def __init__(self, folder: Path, rate: int = 1000, period: float = 0.05) -> None:
        super().__init__(name="weir-bench-generator", daemon=True)
        self.folder = folder
        self.rate = rate
        self.period = period
        self._halt = threading.Event()
        self._dice = np.random.default_rng(7)
        self._number = 0

    def run(self) -> None:
        last = time.time()
        while not self._halt.wait(self.period):
            now = time.time()
            count = max(1, round((now - last) * self.rate))
            self.write([last + (now - last) * (i + 1) / count for i in range(count)])
            last = now

    def write(self, times: Sequence[float]) -> None:
        """One file; ``times`` in seconds."""
        people = self._dice.integers(0, PEOPLE, len(times)).tolist()
        rooms = self._dice.integers(0, ROOMS, len(times)).tolist()
        lines = [
            f"{int(1000 * at)}\t<{LV}person{person}> <{LV}detectedAt> <{LV}room{room}> .\n"
            for at, person, room in zip(times, people, rooms, strict=True)
        ]
        partial = self.folder / f".{self._number:06d}.partial"
        partial.write_text("".join(lines), encoding="utf-8")
        os.replace(partial, self.folder / f"{self._number:06d}.tnq")
        self._number += 1

    def stop(self) -> None:
        """Write no more."""
        self._halt.set()
        if self.is_alive():
            self.join()
