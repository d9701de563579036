"""Formats by name, ending and media type; documents in another syntax."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from weir.errors import UsageError
from weir.rdf.formats.media import FORMATS, endings, format_of, format_of_path


def test_a_format_is_known_by_name_ending_and_media_type() -> None:
    for form in FORMATS:
        assert {format_of(text) for text in (form.name, *form.endings, *form.media_types)} == {form}
    assert format_of("Text/Turtle; charset=utf-8").name == "turtle"
    assert format_of_path(PurePath("a.nt.gz")) == format_of("ntriples")
    assert ".tnq" in endings()
    with pytest.raises(UsageError):
        format_of("prose")
