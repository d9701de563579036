"""The command line in this process, on the tests' own Spark session; and its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from weir.cli.main import app

EX = "http://example.org/"
REACHES = f"""PREFIX : <{EX}>
REGISTER ISTREAM <reaches> AS
CONSTRUCT {{ ?p2 :reaches ?p1 }}
FROM NAMED <floorplan>
FROM NAMED WINDOW <now> ON <rfid> [NOW]
FROM NAMED WINDOW <recent> ON <rfid> [RANGE 2 STEP 1 REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG]
PREVIOUS INSTANT
WHERE {{
  WINDOW <now> {{ ?p1 :detectedAt ?l1 }}
  WINDOW <recent> {{ ?p2 :detectedAt ?l2 }}
  GRAPH <floorplan> {{ ?l1 :conn ?l2 }}
}}
"""
"""CQELS's localisation query with T = 2, the person in the RANGE window first as in Table 1."""

COUNTS = f"""PREFIX : <{EX}>
REGISTER RSTREAM <counts> AS
SELECT ?room (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <rfid> [RANGE PT1S STEP PT1S]
WHERE {{ WINDOW <w> {{ ?p :detectedAt ?room }} }}
GROUP BY ?room
"""
FLOOR = f"@prefix : <{EX}> . :r1 :conn :r2, :r3 . :r2 :conn :r1 . :r3 :conn :r1 .\n"


def detected(time: int, person: int, room: int) -> str:
    """A line of the stream."""
    return f"{time}\t<{EX}m{person}> <{EX}detectedAt> <{EX}r{room}> .\n"


def localisation(folder: Path) -> None:
    """The files of Table 1: query, floor plan and the four-line stream."""
    (folder / "reaches.rq").write_text(REACHES)
    (folder / "floor.ttl").write_text(FLOOR)
    (folder / "rfid.tnq").write_text("".join(detected(t, t, 1 + t % 2) for t in range(4)))


def weir(*arguments: object) -> Result:
    """``weir …``; standard output and standard error apart."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
