"""The page of the guide for Spark users as one program, on a session of one's own or through Connect."""

from __future__ import annotations

import re
from pathlib import Path

from shared import ROOT

PAGE = ROOT / "docs" / "guide" / "spark.md"
_FENCE = re.compile(r"^```(text|python)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CLASSIC, _CONNECT = 'builder.master("local[2]")', 'builder.remote("local[2]")'


def guide_program(folder: Path, *, connect: bool) -> str:
    """The Python of the page; its files are written into ``folder``."""
    program = ""
    for language, name, body in _FENCE.findall(PAGE.read_text()):
        if name:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(body)
        elif language == "python":
            program += body
    assert program.count(_CLASSIC) == 1
    return program.replace(_CLASSIC, _CONNECT) if connect else program
