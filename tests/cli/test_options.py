"""What the commands have in common: options as they are read, errors with their exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from weir.cli.options import pair, read_query, reported
from weir.errors import EvaluationError, UsageError, WeirError


@pytest.mark.parametrize(("error", "status"), [(UsageError("wrong"), 2), (EvaluationError("failed"), 1)])
def test_errors_have_the_exit_status_of_their_kind(
    error: WeirError, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as told, reported():
        raise error
    assert told.value.exit_code == status
    assert capsys.readouterr().err == f"weir: {error}\n"


def test_a_pair_is_parted_at_its_first_sign() -> None:
    assert pair("http://e/s=a=b", "--stream", "IRI=SOURCE") == ("http://e/s", "a=b")
    with pytest.raises(UsageError, match="--stream"):
        pair("nothing", "--stream", "IRI=SOURCE")


def test_a_query_file_that_is_not_there_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such query file"):
        read_query(tmp_path / "q.rq")
