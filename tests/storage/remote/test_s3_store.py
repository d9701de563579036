"""S3: what differs from other stores."""

from __future__ import annotations

from typing import Any

import pytest

from weir.errors import StorageError
from weir.storage.files import names, put_if_absent, remove_folder, writing
from weir.storage.places import path_at
from weir.storage.remote import RemotePath
from weir.storage.remote.s3_store import S3Store


def on_s3(s3: str) -> RemotePath:
    path = path_at(f"{s3}/own")
    assert isinstance(path, RemotePath) and isinstance(path.store, S3Store)
    return path


def client_of(path: RemotePath) -> Any:
    assert isinstance(path.store, S3Store)
    return path.store._client


def test_listings_of_many_pages_are_whole(s3: str) -> None:
    folder = on_s3(s3) / "many"
    for number in range(1005):
        client_of(folder).put_object(Bucket=folder.parts[2], Key=f"{folder.key}/{number}", Body=b"")
    assert len(names(folder)) == 1005
    remove_folder(folder)
    assert not folder.exists()


def test_a_large_object_is_put_in_parts_and_whole(s3: str) -> None:
    path, data = on_s3(s3) / "large", bytes(range(256)) * (40 << 10)
    with writing(path) as file:
        file.write(data)
    assert path.read_bytes() == data


def test_an_object_whose_answer_was_lost_is_ones_own(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client asks again, and is told that the name is taken: by itself."""
    path = on_s3(s3) / "lost"
    client = client_of(path)
    put = client.put_object

    def twice(**told: object) -> object:
        put(**told)
        return put(**told)

    monkeypatch.setattr(client, "put_object", twice)
    assert put_if_absent(path, b"x")
    monkeypatch.undo()
    assert not put_if_absent(path, b"y") and path.read_bytes() == b"x"


def test_a_folder_that_hadoop_marks_is_empty(s3: str) -> None:
    folder = on_s3(s3) / "marked"
    client_of(folder).put_object(Bucket=folder.parts[2], Key=f"{folder.key}/", Body=b"")
    assert folder.is_dir() and names(folder) == []


def test_a_bucket_that_is_not_there_is_told(s3: str) -> None:
    with pytest.raises(StorageError, match=r"(?s)s3a://no-such-bucket/x: .*NoSuchBucket"):
        path_at("s3a://no-such-bucket/x").exists()
