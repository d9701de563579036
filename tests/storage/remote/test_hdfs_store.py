"""HDFS: what differs from other stores."""

from __future__ import annotations

from typing import Any
from urllib.request import Request

import pytest

from weir.errors import StorageError
from weir.storage.files import names, put_if_absent, replace_file
from weir.storage.places import path_at
from weir.storage.remote import RemotePath
from weir.storage.remote.hdfs_store import ADDRESS, HdfsStore


def test_a_name_node_that_does_not_answer_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.storage.remote.hdfs_store._WAIT", 0.0)
    monkeypatch.setenv(ADDRESS, "http://127.0.0.1:9")
    store = HdfsStore("hdfs", "host:8020")
    with pytest.raises(StorageError, match=r"(?s)hdfs://host:8020/a: .*refused.*WEIR_WEBHDFS="):
        store.status("a")


@pytest.mark.long
def test_an_answer_that_was_lost_is_asked_for_again(hdfs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the first answer to each change of a name had been lost on the way."""
    folder = path_at(f"{hdfs}/lost")
    assert isinstance(folder, RemotePath) and isinstance(folder.store, HdfsStore)
    opened = folder.store._opener.open

    def open_twice(request: Request, timeout: float) -> Any:
        if "op=RENAME" in request.full_url:
            opened(request, timeout=timeout).close()
        return opened(request, timeout=timeout)

    monkeypatch.setattr(folder.store._opener, "open", open_twice)
    assert put_if_absent(folder / "a", b"1")
    replace_file(folder / "a", b"2")
    assert not put_if_absent(folder / "a", b"3")
    assert (folder / "a").read_bytes() == b"2" and names(folder) == ["a"]
