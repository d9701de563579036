"""Messages from the function of an installed package."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from weir.errors import DataError, UsageError
from weir.extras import brought
from weir.runtime.ingest.receivers.receiver import Client
from weir.runtime.ingest.sources.push_sources import SOURCES, BroughtSource


class BroughtReceiver(Client[BroughtSource]):
    """Each that the function gives is a message; what it raises is the connection's problem."""

    def session(self) -> None:
        function = brought(SOURCES).get(self.source.scheme)
        if function is None:
            raise UsageError(f"no installed package brings a source {self.source.scheme}://")
        try:
            with closing(function(self.source.url, self.stopping)) as found:
                self.opened()
                for each in found:
                    time, payload = each if isinstance(each, tuple) else (None, each)
                    data = payload.encode() if isinstance(payload, str) else bytes(payload)
                    if self.put(data, time=_micros(time)) is None or self.stopping.is_set():
                        return
        except (DataError, OSError):
            raise
        except Exception as error:
            raise DataError(f"{self.source.address}: {type(error).__name__}: {error}") from error
        self.state.problem = "the source ended"


def _micros(time: Any) -> int | None:
    """A time in microseconds; one without a zone is in UTC."""
    if not isinstance(time, datetime):
        return None if time is None else int(time) * 1000
    zoned = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return round(zoned.timestamp() * 1_000_000)
