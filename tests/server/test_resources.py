"""Ids of resources, and what is remembered of them."""

from __future__ import annotations

import re
from pathlib import Path

from weir.server.resources import ID, Records, slug


def test_ids_are_safe_and_stable() -> None:
    assert slug("query1") == "query1"
    assert slug("http://e/streams/rfid") == slug("http://e/streams/rfid") != slug("http://f/streams/rfid")
    for name in ("http://e/ü?x=1#", "a b", "../../etc", "", ".", "x" * 200):
        assert re.fullmatch(ID, slug(name)), slug(name)


def test_records_outlive_the_process_until_they_are_removed(tmp_path: Path) -> None:
    records = Records(tmp_path / "service.json")
    records.put("streams", "http://e/s", {"id": "s"})
    records.put("queries", "q", {"since": "now"})
    records.put("queries", "q", None)
    again = Records(tmp_path / "service.json")
    assert again.all("streams") == {"http://e/s": {"id": "s"}}
    assert again.get("queries", "q") == {}
