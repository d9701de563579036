"""Streams that are pushed over a network: where each connects, and what it promises.

Descriptions only; ``receivers`` has the connections. Every message is logged and synced first, and
read from the log, so a job that dies and comes back reads what it had received.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from weir.errors import DataError, UsageError
from weir.extras import load
from weir.language import parse
from weir.language.algebra.query import Construct
from weir.rdf.formats.media import format_of
from weir.runtime.ingest.sources.log_source import LogSource

if TYPE_CHECKING:
    from weir.fragments.client import Options
    from weir.fragments.ldes import Bookmark, LdesOptions

MAX_MESSAGE = 16 << 20
QOS = (0, 1)
SOURCES = "weir.sources"
"""The group of entry points by which packages bring sources."""
EVERYTHING = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
"""The query of a fragments source that gives none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushSource(LogSource):
    """``format`` is that of all messages; one of more than ``max_message`` bytes is set aside.

    ``timeout`` is for connecting, in seconds.
    """

    format: str = "tnq"
    max_message: int = MAX_MESSAGE
    timeout: float = 10.0

    @property
    def beats(self) -> str:
        """With times of arrival, the clock tells that nothing older will come."""
        arrival = not format_of(self.format).timed and self.time is None
        return self.heartbeat or ("clock" if arrival else "last")

    def check(self) -> None:
        LogSource.check(self)
        format_of(self.format)
        if self.max_message < 1 or self.timeout <= 0:
            raise UsageError("max_message and timeout must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttSource(PushSource):
    """The messages of an MQTT topic or filter; each topic is a lane of its own.

    A persistent session under ``client`` (chosen by the stream where none is given); with ``qos`` 1 a message
    is acknowledged to the broker once it is synced. ``password_env`` names the variable of the environment
    that holds the password: the checkpoint does not.
    """

    kind: ClassVar[str] = "mqtt"
    promise: ClassVar[str] = "at least once from the broker on (qos 1); exactly once from the log on"

    host: str
    topic: str
    port: int = 1883
    qos: int = 1
    client: str = ""
    user: str = ""
    password_env: str = ""
    tls: bool = False

    @property
    def address(self) -> str:
        return f"mqtt{'s' if self.tls else ''}://{self.host}:{self.port}/{self.topic}"

    def check(self) -> None:
        PushSource.check(self)
        if self.qos not in QOS:
            raise UsageError(
                f"qos {self.qos} is not known", hint="0 or 1; doubles of qos 1 are rare and equal"
            )
        if not self.topic:
            raise UsageError("an MQTT source needs a topic", hint="mqtt://host/topic or mqtt://host/some/#")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSocketSource(PushSource):
    """The messages that a WebSocket server sends; ``hello`` goes first, where the server wants to be asked.

    The protocol has no acknowledgements: what is sent while nobody is connected is not seen.
    """

    kind: ClassVar[str] = "websocket"
    promise: ClassVar[str] = "at most once from the server on; exactly once from the log on"

    url: str
    hello: str = ""

    @property
    def address(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True, kw_only=True)
class SseSource(PushSource):
    """Server-Sent Events; after a break the server is asked for what came after the last event with an id.

    The id is logged together with its event. ``silence`` is how many seconds may pass without a byte.
    """

    kind: ClassVar[str] = "sse"
    promise: ClassVar[str] = (
        "exactly once where the server's events have ids and it resumes by them; else at most once"
    )

    url: str
    silence: float = 60.0

    @property
    def address(self) -> str:
        return f"sse+{self.url}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpSource(PushSource):
    """Lines from a TCP server, as ``nc -lk`` is one. Neighbouring stream lines of equal time are one message;
    in formats with a message per line each line is one."""

    kind: ClassVar[str] = "tcp"
    promise: ClassVar[str] = "at most once from the server on; exactly once from the log on"

    host: str
    port: int

    @property
    def address(self) -> str:
        return f"tcp://{self.host}:{self.port}"

    def check(self) -> None:
        PushSource.check(self)
        if format_of(self.format).name not in ("tnq", "ndjsonld", "ntriples", "nquads"):
            raise UsageError(f"{self.format} has no lines", hint="tnq, ndjsonld, ntriples or nquads")


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtSource(PushSource):
    """What the function of an installed package receives: the entry point of the group ``weir.sources`` that
    has the name of the URL's scheme.

    It is called with the URL and an event, gives messages one by one (``bytes`` or ``str``, or a pair of a
    time and one of these; a time is a ``datetime`` or integer milliseconds), and returns when its peer hangs
    up or soon after the event is set. Where it returns or raises, it is called again after a while.
    """

    kind: ClassVar[str] = "brought"
    promise: ClassVar[str] = "what the package promises; exactly once from the log on"

    url: str

    @property
    def address(self) -> str:
        return self.url

    @property
    def scheme(self) -> str:
        return self.url.partition("://")[0].lower()

    @property
    def beats(self) -> str:
        """Messages may have times of their own in any format."""
        return self.heartbeat or "last"


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentsSource(PushSource):
    """``query`` is evaluated over the data set at ``url`` whenever a fact that it read expires; the triples
    that an evaluation adds are a message of that instant, and one that adds nothing is a heartbeat.

    ``least`` and ``most`` are seconds between two evaluations; with ``listen`` a server that offers it tells
    at once when facts are taken back.
    """

    kind: ClassVar[str] = "fragments"
    promise: ClassVar[str] = (
        "exactly once while the job runs; after a break what holds then comes again,"
        " and what came and went meanwhile is missed"
    )

    url: str
    query: str = EVERYTHING
    least: float = 0.1
    most: float = 60.0
    listen: bool = False

    @property
    def address(self) -> str:
        return f"fragments+{self.url}"

    @property
    def beats(self) -> str:
        """Evaluations are heartbeats of their own."""
        return self.heartbeat or "off"

    def check(self) -> None:
        PushSource.check(self)
        if not isinstance(parse(self.query, dialect="sparql").form, Construct):
            raise UsageError("only CONSTRUCT makes a stream", hint="write CONSTRUCT { … } WHERE { … }")
        self.options()

    def options(self) -> Options:
        """How to follow: for ever, also while there is nothing dynamic."""
        made: Options = load("weir.fragments.client").Options(
            min_interval=self.least, max_interval=self.most, listen=self.listen, stop_when_static=False
        )
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class LdesSource(PushSource):
    """The members of a Linked Data Event Stream; each is a message of the time that it states.

    ``time`` is the predicate of times where the stream does not say which it is; ``since`` (xsd:dateTime)
    leaves out what is older. Pages that may grow are asked for every ``poll`` seconds. The last member is
    logged with its message.
    """

    kind: ClassVar[str] = "ldes"
    promise: ClassVar[str] = (
        "exactly once where members come in order of their times; after a break, those without a time"
        " come again, and those older than the last one are missed"
    )

    url: str
    since: str = ""
    poll: float = 5.0
    format: str = "ntriples"

    @property
    def address(self) -> str:
        return f"ldes+{self.url}"

    @property
    def beats(self) -> str:
        """Members have times of their own, which may lie far back."""
        return self.heartbeat or "last"

    def check(self) -> None:
        PushSource.check(self)
        if format_of(self.format).name != "ntriples":
            raise UsageError("members are logged as N-Triples", hint="leave out format")
        self.options(), self.start()

    def options(self) -> LdesOptions:
        """How to read."""
        path = None if self.time is None else f"<{self.time}>"
        options: type[LdesOptions] = load("weir.fragments.ldes").LdesOptions
        return options(poll=self.poll, path=path, page_bytes=self.max_message, timeout=self.timeout)

    def start(self) -> Bookmark:
        """Where to begin."""
        bookmark: type[Bookmark] = load("weir.fragments.ldes").Bookmark
        read_time = load("weir.fragments.protocol.annotation").read_time
        try:
            return bookmark(read_time(f'"{self.since}"')) if self.since else bookmark()
        except DataError as error:
            raise UsageError(f"'since' is no time: {error.primary}") from None
