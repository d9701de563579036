"""What a user may declare about an endpoint: budget, policy, change intervals, patience.

Declared per endpoint (``weir.Engine(services=…)``, the CLI's configuration file), or as a hint in the
query itself, in the fragment of the endpoint's IRI, which is never sent to a server:
``SERVICE <http://example.org/sparql#weir:budget=10&policy=ibm&interval=5s> { … }``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

from weir.errors import UsageError
from weir.language.syntax import durations

HINT = "#weir:"
SECOND = 1_000_000
LONGEST = 36_525 * 86_400 * SECOND
"""The longest duration that can be declared."""
_DIGITS, _MOST = 18, 1 << 40
"""The digits of a number, and how large one may be."""


class PolicyName(Enum):
    """Which policy spends the budget; SBM and IBM have a form for aggregates, chosen by the query.

    EXPECTED is Weir's own, for what is merely learned; the others are the paper's, for what is declared or
    stated. AUTO is EXPECTED where no interval is declared, else FBA where budget can be moved, else IBM.
    """

    AUTO = "auto"
    RAND = "rand"
    LRU = "lru"
    SBM = "sbm"
    IBM = "ibm"
    FBA = "fba"
    EXPECTED = "expected"


class OnFailure(Enum):
    """What happens where an endpoint fails or is late: go on with what the view holds, or fail the query."""

    STALE = "stale"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Budget:
    """``per_evaluation`` is γ, at most so many requests at one evaluation time; ``per_period`` is Γ, at
    most so many in each ``period`` (event time, aligned to 1970), accruing evenly; ``rate`` is how many a
    second of the clock on the wall. Of all, each holds.

    A request is one HTTP request, each attempt of its own, and may ask for many keys; ``keys`` bounds how
    many are asked for at one evaluation time.
    """

    per_evaluation: int | None = None
    per_period: int | None = None
    period: int = 60 * SECOND
    rate: float | None = None
    keys: int | None = None

    def __post_init__(self) -> None:
        limits = (self.per_evaluation, self.per_period, self.rate, self.keys)
        if all(limit is None for limit in limits):
            raise UsageError(
                "a budget needs requests per evaluation, per period or per second, or keys per evaluation"
            )
        if min(limit or 0 for limit in limits) < 0 or self.period <= 0:
            raise UsageError("a budget is not negative, and its period is longer than nothing")


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """Everything declared about one endpoint. Durations of the data are microseconds of event time; how
    long to wait for a server is in seconds of the clock.

    ``change_interval`` holds for every predicate that ``change_intervals`` does not list; where neither
    says anything, intervals are learned from observed changes, starting from ``first_interval``.
    ``expires_variable`` names a variable of the pattern that says until when a row holds (xsd:dateTime),
    ``interval_variable`` one that says how often it changes (xsd:duration, or seconds as a number).
    ``trust_headers`` takes ``Cache-Control`` and ``Expires`` as exact expiry times.
    ``row_limit`` is how many rows the endpoint gives at most, 0 where that is not known: an answer with as
    many is taken for cut, which is a failed call.
    ``probes`` is the share of a budget that checks the estimate of freshness.
    ``cache`` is how long an answer may be used again where there is no budget.
    ``age_variable`` binds in each row how old its remote part is, in seconds.
    ``allow`` false refuses the endpoint; declared for ``"*"``, all that are not declared themselves.
    ``inner`` false refuses addresses that are not of the public internet (``linked.http.allowed_hosts``).
    ``deadline`` is how long an evaluation waits for answers: by default 1 s with a budget, else 10 s.
    """

    allow: bool = True
    inner: bool = True
    budget: Budget | None = None
    policy: PolicyName = PolicyName.AUTO
    change_interval: int | None = None
    change_intervals: tuple[tuple[str, int], ...] = ()
    first_interval: int = 10 * SECOND
    expires_variable: str | None = None
    interval_variable: str | None = None
    trust_headers: bool = True
    probes: float = 0.05
    cache: int = 0
    age_variable: str | None = None
    on_failure: OnFailure = OnFailure.STALE
    max_keys: int = 200_000
    seed: int = 0
    deadline: float | None = None
    timeout: float = 10.0
    retries: int = 2
    backoff: float = 0.1
    failures: int = 3
    cool_down: float = 1.0
    longest_cool_down: float = 60.0
    connections: int = 4
    batch: int = 50
    row_limit: int = 0
    max_bytes: int = 16 << 20
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.method not in ("GET", "POST"):
            raise UsageError(f"unknown HTTP method {self.method}", hint="GET and POST are known")
        intervals = [*(every for _, every in self.change_intervals), self.first_interval]
        if min(intervals) <= 0 or (self.change_interval is not None and self.change_interval <= 0):
            raise UsageError("a change interval is longer than nothing")
        if min(self.batch, self.connections, self.max_bytes, self.max_keys, self.failures) < 1:
            raise UsageError("batch, connections, failures, max_bytes and max_keys are at least 1")
        if self.seed < 0:
            raise UsageError("a seed is not negative")
        for name in (self.expires_variable, self.interval_variable, self.age_variable):
            if name is not None and not name.isidentifier():
                raise UsageError(f"{name!r} is no name of a variable", hint="write it without ?")
        if (
            min(self.deadline or 0.0, self.timeout, self.backoff, self.cool_down, self.cache, self.retries)
            < 0
        ):
            raise UsageError("time-outs, waits and retries are not negative")

    @property
    def patience(self) -> float:
        """How many seconds an evaluation waits at most."""
        if self.deadline is not None:
            return self.deadline
        return 10.0 if self.budget is None else 1.0

    @property
    def stated(self) -> bool:
        """Whether the rows themselves say when they change."""
        return self.expires_variable is not None or self.interval_variable is not None

    @property
    def declared(self) -> Mapping[str, int]:
        """The change intervals declared per predicate."""
        return dict(self.change_intervals)


def microseconds(value: object) -> int:
    """A duration: ``"5s"``, ``"500ms"``, ``"PT5S"``; a bare number counts milliseconds, as in queries."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _bounded(value * 1_000)
    text = str(value).strip()
    if text.isdecimal() and text.isascii() and len(text) <= _DIGITS:
        return _bounded(int(text) * 1_000)
    compact = durations.COMPACT.fullmatch(text)
    length = durations.from_units(text) if compact else durations.from_xsd(text)
    if length is None:
        raise UsageError(f"{text!r} is no duration", hint="write 5s, 500ms or PT5S")
    return _bounded(length)


def _bounded(length: int) -> int:
    """A duration that can be added to a time."""
    if length > LONGEST:
        raise UsageError("a duration is longer than 100 years", hint="write a shorter one")
    return length


_DURATIONS = ("change_interval", "first_interval", "cache")
_LIMITS = ("budget", "budget_per_period", "period", "rate", "keys")
SHORT_NAMES = {"interval": "change_interval", "intervals": "change_intervals"}


def config_of(settings: Mapping[str, Any], base: ServiceConfig | None = None) -> ServiceConfig:
    """A configuration from plain settings (a file, a hint), on top of ``base``.

    ``budget`` is γ; ``budget_per_period`` with ``period`` is Γ; ``rate`` and ``keys`` go with them. Every
    other name is a field.
    """
    known = {f.name: f for f in fields(ServiceConfig)}
    changed: dict[str, Any] = {}
    rest = dict(settings)
    limits: dict[str, Any] = {name: rest.pop(name) for name in _LIMITS if name in rest}
    for written, value in rest.items():
        name = SHORT_NAMES.get(written, written)
        if name not in known:
            raise UsageError(
                f"unknown service setting {written!r}", hint="known: " + ", ".join(sorted(known))
            )
        changed[name] = _value(name, value)
    if limits:
        changed["budget"] = _budget(limits, base.budget if base is not None else None)
    return replace(base or ServiceConfig(), **changed)


def server_of(endpoint: str) -> str:
    """What an endpoint is told apart by: scheme, host, port and path. Whatever else its address has (hint,
    query, user) asks the same server."""
    parts = urlsplit(endpoint)
    try:
        port = parts.port
    except ValueError:
        return endpoint
    port = port or {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}{parts.path or '/'}"


def _budget(limits: Mapping[str, Any], base: Budget | None) -> Budget | None:
    if str(limits.get("budget", "")).lower() == "none":
        return None
    told: dict[str, Any] = {}
    names = {"budget": "per_evaluation", "budget_per_period": "per_period", "keys": "keys"}
    for name, field_name in names.items():
        if name in limits:
            told[field_name] = _read(int, name, limits[name], "a whole number")
    if "rate" in limits:
        told["rate"] = _read(float, "rate", limits["rate"], "a number of requests a second")
    if "period" in limits:
        told["period"] = microseconds(limits["period"])
    return Budget(**told) if base is None else replace(base, **told)


def _value(name: str, value: Any) -> Any:
    default = getattr(ServiceConfig(), name)
    if name in _DURATIONS:
        return microseconds(value)
    if name == "change_intervals":
        return tuple((str(iri), microseconds(every)) for iri, every in _pairs(name, value).items())
    if name == "headers":
        return tuple((str(key), str(text)) for key, text in _pairs(name, value).items())
    if isinstance(default, Enum):
        words = ", ".join(choice.value for choice in type(default))
        return _read(type(default), name, str(value).lower(), f"one of {words}")
    if isinstance(default, bool):
        return str(value).lower() in ("1", "true", "yes", "on")
    if isinstance(default, int):
        return _read(int, name, value, "a whole number")
    if isinstance(default, float) or name == "deadline":
        return _read(float, name, value, "a number of seconds")
    return None if value is None else str(value)


def _read(kind: Callable[[Any], Any], name: str, value: Any, wanted: str) -> Any:
    try:
        found = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name} is {wanted}, not {value!r}") from None
    if isinstance(found, (int, float)) and not abs(found) <= _MOST:
        raise UsageError(f"{name} is {wanted}, and not as large as {value!r}")
    return found


def _pairs(name: str, value: Any) -> dict[Any, Any]:
    try:
        return dict(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is a table of names and values, not {value!r}") from None
