"""The bodies of requests and the shapes of answers, as the OpenAPI description shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from weir.fragments.protocol.annotation import Labeling, Method
from weir.server.problems import MEDIA_TYPE, ProblemBody
from weir.server.resources import ID

Id = Annotated[str, Path(pattern=ID, max_length=80, description="An id, as listings give it.")]
IriText = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`]+$", max_length=2048)
]
Dialect = Literal["auto", "sparql", "rspql", "cqels", "csparql", "sparqlstream"]
Evaluator = Literal["auto", "interval", "reference"]
Sort = Literal["seconds", "rows", "bytes", "results", "evaluations", "name", "since"]
Status = Literal["running", "paused", "failed"]

PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem",
        "content": {MEDIA_TYPE: {"schema": ProblemBody.model_json_schema()}},
    }
}
"""What every operation may answer beside what it says."""


def described_body(*texts: str, **schemas: Any) -> dict[str, Any]:
    """What the description says of a body that is read as it is: its media types, and schemas of some."""
    types = {each: {"schema": {"type": "string"}} for each in texts}
    given = {each: {"schema": schema} for each, schema in schemas.items()}
    return {"requestBody": {"required": True, "content": types | given}}


class Strict(BaseModel):
    """Unknown members are refused: a typing error should not pass in silence."""

    model_config = ConfigDict(extra="forbid")


class NewStream(Strict):
    """``time`` is the predicate that states a message's time; without it, messages without a time of their
    own count from their arrival. ``heartbeat`` says how time goes on while nothing comes: ``auto`` follows
    the clock where messages are of the present, ``lateness`` seconds behind it, and waits otherwise.
    ``times_distinct`` promises that times strictly increase. With a ``source``, an address that the service
    allows (``mqtt://…``, ``kafka://…``, a path), messages come from there and are not pushed."""

    iri: IriText
    id: Annotated[str, StringConstraints(pattern=ID)] | None = None
    time: IriText | None = None
    lateness: Annotated[float, Field(gt=0, le=3600)] | None = None
    heartbeat: Literal["auto", "last", "run", "clock", "off"] = "auto"
    times_distinct: bool = False
    source: Annotated[str, StringConstraints(min_length=1, max_length=2048)] | None = None


class Stream(BaseModel):
    """``lag`` is how many seconds event time is behind the newest message, ``latency`` how many passed
    from the push of the latest messages to their evaluation; times are xsd:dateTimes."""

    id: str
    iri: str
    rate: float
    lag: float | None
    latency: float | None = None
    messages: int
    high: str | None
    complete: str | None
    late: int
    waiting: int
    source: str
    address: str | None = None
    readers: list[str]
    created: str | None = None
    backlog: int | None = Field(None, description="Bytes that are accepted and not yet read.")


class Streams(BaseModel):
    streams: list[Stream]


class RejectedLine(BaseModel):
    line: int
    reason: str


class Pushed(BaseModel):
    """How many messages are on stable storage, and which lines are not."""

    accepted: int
    rejected: list[RejectedLine]


class RegisteredQuery(BaseModel):
    """``position`` is where the next result will be; ``oldest`` the first that is still kept. ``failed`` says
    that it ended by itself, at the evaluation time ``failed_at``; ``reason`` why it does not run."""

    id: str
    name: str
    text: str
    dialect: str
    evaluator: str
    reason: str | None
    paused: bool
    failed: bool
    failed_at: str | None = None
    since: str | None
    evaluations: int
    results: int
    seconds: float = Field(0.0, description="Time of work since the job started; its part where it shares.")
    batch_seconds: float = Field(0.0, description="Time of work in the latest batch.")
    rows: int = Field(0, description="What its windows keep; its part where it shares.")
    bytes: int = Field(0, description="The memory of these rows.")
    together: int = Field(
        1, description="How many queries of its slot share its evaluator, itself among them."
    )
    position: int
    oldest: int
    numeric: list[str]
    variables: list[str]
    form: str
    reads: list[str]
    output: str | None
    published: bool
    through: str | None = None
    lag: float | None = Field(
        None, description="Seconds of event time between the newest message and what it is done with."
    )
    latency: float | None = Field(
        None, description="Seconds from the push of the latest messages to their evaluation."
    )
    warnings: list[str] = Field(
        default=[],
        description="What is allowed and hardly meant: graphs that are not given, variables that "
        "can never be bound, a name that REGISTER overrides.",
    )


class Queries(BaseModel):
    """``total`` is how many match, however few are listed; ``counts`` how many there are in each status."""

    queries: list[RegisteredQuery]
    total: int = 0
    counts: dict[Status, int] = Field(default_factory=dict)


class Text(Strict):
    text: Annotated[str, StringConstraints(max_length=1_000_000)]
    dialect: Dialect = "auto"


class NewQuery(Text):
    text: Annotated[str, StringConstraints(min_length=1, max_length=1_000_000)]
    name: Annotated[str, StringConstraints(pattern=ID)] | None = None
    evaluator: Evaluator = "auto"


class Translation(Text):
    to: Literal["sparql", "rspql", "cqels", "csparql", "sparqlstream"]


class Publication(Strict):
    """``lifetime`` is for how many seconds a result is promised (by default twice the query's step, at
    least 10); ``annotation`` and ``labeling`` say how results show their time. By default a result stands in
    the default graph, where every client of fragments looks, and the page that has it bears its time."""

    lifetime: Annotated[float, Field(gt=0, le=86_400)] | None = None
    annotation: Method = Method.IMPLICIT
    labeling: Labeling = Labeling.EXPIRATION


class NewSink(Strict):
    """Where results go as well: ``mqtt://…``, ``kafka://…``, ``live://…``, ``files:DIR``."""

    address: Annotated[str, StringConstraints(min_length=1, max_length=2048)]


class SinkInfo(BaseModel):
    """``added`` over HTTP, and can be removed; ``failure`` is why it gets no results any more."""

    address: str
    added: bool
    failure: str | None = None


class Sinks(BaseModel):
    sinks: list[SinkInfo]


class Graph(BaseModel):
    """The default graph has no IRI. Of a large graph that was updated ``triples`` is what it had before."""

    id: str
    iri: str | None
    triples: int


class Graphs(BaseModel):
    graphs: list[Graph]


class Published(BaseModel):
    """Where the results are, and by which predicate each variable of SELECT, or ``boolean`` of ASK, is said
    of a result there. The triples of CONSTRUCT are as the query makes them."""

    dataset: str
    predicates: dict[str, str]


class GraphUrl(Strict):
    """Where to load a graph from; its host must be allowed."""

    url: Annotated[str, StringConstraints(min_length=8, max_length=2048)]


class Updated(BaseModel):
    """The number of the update; 0 where nothing changed."""

    update: int
