"""HDFS by WebHDFS, which needs neither a JVM nor a native library: HTTP to the name node, data to data nodes.

The name node's HTTP server is at port 9870 of its host, or where ``WEIR_WEBHDFS`` says; the user is
``HADOOP_USER_NAME``, or else who runs the process. A cluster with Kerberos is refused by it.
"""

from __future__ import annotations

import getpass
import json
import os
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from io import BytesIO
from typing import IO, Any
from urllib.parse import quote, urlencode, urlsplit

from weir.storage.remote.stores import Status, Store

ADDRESS = "WEIR_WEBHDFS"
"""The setting that says where the name node speaks HTTP: ``http://host:9870``."""
_PORT = 9870
_TIMEOUT = 60.0
_TRIES, _WAIT = 4, 0.2
_GONE = "FileNotFoundException"
_BUSY = ("RetriableException", "SafeModeException")


class _Refused(Exception):
    """What the name node answered: the name of Java's exception, and what it said."""

    def __init__(self, kind: str, said: str) -> None:
        super().__init__(f"{kind}: {said}")
        self.kind = kind


class HdfsStore(Store):
    """The file system of the name node at ``authority``."""

    def __init__(self, scheme: str, authority: str) -> None:
        self.address = f"{scheme}://{authority}/"
        base = os.environ.get(ADDRESS) or f"http://{urlsplit(self.address).hostname}:{_PORT}"
        self._base = base.rstrip("/") + "/webhdfs/v1/"
        self._user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
        # The environment's proxies are for the web; the nodes are not there.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def status(self, key: str) -> Status | None:
        try:
            return _status(self._told("GET", key, "GETFILESTATUS")["FileStatus"])
        except FileNotFoundError:
            return None

    def children(self, key: str) -> Iterator[tuple[str, Status]]:
        try:
            told = self._told("GET", key, "LISTSTATUS")
        except FileNotFoundError:
            return
        for each in told["FileStatuses"]["FileStatus"]:
            # A file is listed as itself, without a name.
            if each["pathSuffix"]:
                yield each["pathSuffix"], _status(each)

    def read(self, key: str, begin: int = 0, end: int | None = None) -> bytes:
        if end is not None and end <= begin:
            return b""
        asked = {"offset": begin} if end is None else {"offset": begin, "length": end - begin}
        try:
            return self._asked("GET", self._url(key, "OPEN", **asked), key)
        except _Refused as error:
            if begin and "out of the range" in str(error):
                return b""
            raise self.refused(key, error) from None

    def put(self, key: str, data: IO[bytes], size: int) -> None:
        aside = self._put_aside(key, data, size)
        self._rename(aside, key, renameoptions="OVERWRITE")

    def put_if_absent(self, key: str, data: bytes) -> bool:
        aside = self._put_aside(key, BytesIO(data), len(data))
        if self._rename(aside, key):
            return True
        # An answer may have been lost: then the file aside has the name already.
        if self.status(aside) is None:
            return True
        self.remove(aside)
        return False

    def move(self, old: str, new: str) -> None:
        try:
            self._rename(old, new, renameoptions="OVERWRITE")
        except FileNotFoundError:
            if self.status(new) is None:
                raise

    def remove(self, key: str) -> None:
        self._told("DELETE", key, "DELETE", recursive="false")

    def remove_tree(self, key: str) -> None:
        self._told("DELETE", key, "DELETE", recursive="true")

    def _put_aside(self, key: str, data: IO[bytes], size: int) -> str:
        """Write a file beside the one it is to be; its name."""
        folder, _, name = key.rpartition("/")
        aside = f"{folder}/.{name}.{secrets.token_hex(6)}.partial".lstrip("/")
        told = self._told("PUT", aside, "CREATE", overwrite="true", noredirect="true")
        try:
            self._asked("PUT", told["Location"], aside, data, size)
        except _Refused as error:
            raise self.refused(key, error) from None
        return aside

    def _rename(self, old: str, new: str, **options: str) -> bool:
        """Give a file its name; False where the name node says that nothing came of it."""
        try:
            told = self._told("PUT", old, "RENAME", destination=f"/{new}", **options)
        except FileNotFoundError:
            # Renamed by a request before, whose answer was lost.
            if options and self.status(new) is not None:
                return True
            raise
        return bool(told.get("boolean", True))

    def _told(self, method: str, key: str, operation: str, **options: Any) -> dict[str, Any]:
        """What the name node answers."""
        try:
            data = self._asked(method, self._url(key, operation, **options), key)
        except _Refused as error:
            raise self.refused(key, error) from None
        told: dict[str, Any] = json.loads(data) if data else {}
        return told

    def _url(self, key: str, operation: str, **options: Any) -> str:
        query = {"op": operation, "user.name": self._user, **options}
        return f"{self._base}{quote(key)}?{urlencode(query)}"

    def _asked(self, method: str, url: str, key: str, data: IO[bytes] | None = None, size: int = 0) -> bytes:
        """The body of an answer. A request whose answer was lost is made again: all of them may be."""
        headers = (
            {} if data is None else {"Content-Length": str(size), "Content-Type": "application/octet-stream"}
        )
        for left in reversed(range(_TRIES)):
            if data is not None:
                data.seek(0)
            request = urllib.request.Request(url, data=data, headers=headers, method=method)
            try:
                with self._opener.open(request, timeout=_TIMEOUT) as answer:
                    found: bytes = answer.read()
                    return found
            except urllib.error.HTTPError as error:
                refused = _refusal(error)
                if refused.kind == _GONE:
                    raise FileNotFoundError(f"{self.address}{key}") from None
                if refused.kind not in _BUSY or not left:
                    raise refused from None
            except (OSError, HTTPException) as error:
                if not left:
                    hint = f"is WebHDFS at {self._base}? {ADDRESS}=http://HOST:PORT says where it is"
                    raise self.refused(key, error, hint) from None
            time.sleep(_WAIT * (_TRIES - left))
        raise AssertionError("unreachable")


def _refusal(error: urllib.error.HTTPError) -> _Refused:
    said = error.read()
    try:
        told = json.loads(said)["RemoteException"]
        return _Refused(told["exception"], told["message"])
    except (ValueError, KeyError, TypeError):
        return _Refused(f"HTTP {error.code}", error.reason)


def _status(told: dict[str, Any]) -> Status:
    return Status(told["length"], told["modificationTime"] / 1000, told["type"] == "DIRECTORY")
