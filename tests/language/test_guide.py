"""The outputs that the languages page shows are what its Python blocks print."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO

from shared import ROOT

PAGE = ROOT / "docs" / "guide" / "languages.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_what_the_page_shows_is_what_is_printed() -> None:
    names: dict[str, object] = {}
    printed = ""
    shown = 0
    for match in BLOCK.finditer(PAGE.read_text()):
        if match[1] == "python":
            out = StringIO()
            with redirect_stdout(out):
                exec(match[2], names)
            printed = out.getvalue()
        else:
            shown += 1
            assert printed.strip() == match[2].strip()
    assert shown == 4
