"""S3 and what speaks like it: requests of boto3, which finds region, endpoint and credentials as all of AWS's
clients do (``AWS_REGION``, ``AWS_ENDPOINT_URL``, ``AWS_ACCESS_KEY_ID`` …, profiles, roles of machines)."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import boto3
from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from weir.storage.remote.stores import Status, Store

_GONE = ("404", "NoSuchKey", "NotFound")
_TAKEN = ("412", "PreconditionFailed")
_BUSY = ("409", "ConditionalRequestConflict")
_WRITER = "weir-writer"
_TRIES = 5
_AT_ONCE = 8 << 20
"""Bytes that are put by one request."""


class S3Store(Store):
    """A bucket; ``scheme`` is how Hadoop calls it."""

    def __init__(self, scheme: str, bucket: str) -> None:
        self.address = f"{scheme}://{bucket}/"
        self._bucket = bucket
        config = Config(
            connect_timeout=10, read_timeout=60, retries={"mode": "standard", "total_max_attempts": _TRIES}
        )
        self._client: Any = boto3.client("s3", config=config)

    def status(self, key: str) -> Status | None:
        if key:
            with self._asked(key):
                try:
                    found = self._client.head_object(Bucket=self._bucket, Key=key)
                    return Status(found["ContentLength"], found["LastModified"].timestamp())
                except ClientError as error:
                    if _code(error) not in _GONE:
                        raise
        with self._asked(key):
            below = self._client.list_objects_v2(Bucket=self._bucket, Prefix=_folder(key), MaxKeys=1)
        return Status(folder=True) if below["KeyCount"] or not key else None

    def children(self, key: str) -> Iterator[tuple[str, Status]]:
        prefix = _folder(key)
        for page in self._pages(key, Prefix=prefix, Delimiter="/"):
            for each in page.get("CommonPrefixes", ()):
                yield each["Prefix"][len(prefix) : -1], Status(folder=True)
            for each in page.get("Contents", ()):
                # Hadoop marks a folder by an empty object of its name.
                if each["Key"] != prefix:
                    status = Status(each["Size"], each["LastModified"].timestamp())
                    yield each["Key"][len(prefix) :], status

    def read(self, key: str, begin: int = 0, end: int | None = None) -> bytes:
        if end is not None and end <= begin:
            return b""
        asked = (
            {} if not begin and end is None else {"Range": f"bytes={begin}-{'' if end is None else end - 1}"}
        )
        with self._asked(key):
            try:
                found = self._client.get_object(Bucket=self._bucket, Key=key, **asked)
                data: bytes = found["Body"].read()
            except ClientError as error:
                if _code(error) in ("416", "InvalidRange"):
                    return b""
                raise
        return data

    def put(self, key: str, data: IO[bytes], size: int) -> None:
        with self._asked(key):
            if size <= _AT_ONCE:
                self._client.put_object(Bucket=self._bucket, Key=key, Body=data.read())
            else:
                self._client.upload_fileobj(data, self._bucket, key)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        own = secrets.token_hex(16)
        for last in range(_TRIES):
            with self._asked(key):
                try:
                    self._client.put_object(
                        Bucket=self._bucket, Key=key, Body=data, IfNoneMatch="*", Metadata={_WRITER: own}
                    )
                    return True
                except ClientError as error:
                    if _code(error) in _TAKEN:
                        return self._writer(key) == own
                    if _code(error) not in _BUSY or last == _TRIES - 1:
                        raise
        return False

    def move(self, old: str, new: str) -> None:
        with self._asked(old):
            source = {"Bucket": self._bucket, "Key": old}
            self._client.copy(source, self._bucket, new)
            self._client.delete_object(Bucket=self._bucket, Key=old)

    def remove(self, key: str) -> None:
        with self._asked(key):
            self._client.delete_object(Bucket=self._bucket, Key=key)

    def remove_tree(self, key: str) -> None:
        for page in self._pages(key, Prefix=_folder(key)):
            found = [{"Key": each["Key"]} for each in page.get("Contents", ())]
            if found:
                with self._asked(key):
                    told = self._client.delete_objects(
                        Bucket=self._bucket, Delete={"Objects": found, "Quiet": True}
                    )
                if told.get("Errors"):
                    raise self.refused(key, told["Errors"][0].get("Message"))

    def _pages(self, key: str, **asked: Any) -> Iterator[dict[str, Any]]:
        with self._asked(key):
            yield from self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, **asked)

    def _writer(self, key: str) -> str | None:
        """Which call made an object."""
        with self._asked(key):
            try:
                found = self._client.head_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if _code(error) in _GONE:
                    return None
                raise
        writer: str | None = found["Metadata"].get(_WRITER)
        return writer

    @contextmanager
    def _asked(self, key: str) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            if _code(error) in _GONE:
                raise FileNotFoundError(f"{self.address}{key}") from None
            raise self.refused(key, error) from None
        except (BotoCoreError, Boto3Error) as error:
            hint = "credentials and endpoint are those of AWS's tools: AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL …"
            raise self.refused(key, error, hint) from None


def _folder(key: str) -> str:
    return f"{key}/" if key else ""


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
