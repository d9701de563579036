"""WebSocket: a message of the server is a message of the stream."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from weir.errors import RemoteError
from weir.runtime.ingest.receivers.receiver import Client
from weir.runtime.ingest.sources.push_sources import WebSocketSource

_TOO_BIG = 1009


class WebSocketReceiver(Client[WebSocketSource]):
    """Connects to the very host of its URL: a redirection is a failure."""

    def session(self) -> None:
        try:
            with self._connected() as connection:
                self.hang_up = connection.close
                self.opened()
                if self.source.hello:
                    connection.send(self.source.hello)
                for message in connection:
                    self.put(message.encode() if isinstance(message, str) else message)
        except ConnectionClosed as error:
            if error.sent is not None and error.sent.code == _TOO_BIG:
                self.refuse(b"", self.too_large)
            raise RemoteError(f"the connection broke: {error}") from None
        except WebSocketException as error:
            raise RemoteError(f"no WebSocket at {self.source.url}: {error}") from None

    def _connected(self) -> ClientConnection:
        """On a socket of our own, on which the library cannot follow a redirection to another host."""
        url, timeout = self.source.url, self.source.timeout
        parts = urlsplit(url)
        secure = parts.scheme == "wss"
        peer = parts.hostname or "", parts.port or (443 if secure else 80)
        return connect(
            url,
            sock=socket.create_connection(peer, timeout),
            ssl=ssl.create_default_context() if secure else None,
            server_hostname=parts.hostname if secure else None,
            open_timeout=timeout,
            close_timeout=1,
            max_size=self.source.max_message,
            proxy=None,
        )
