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
from urllib.parse import parse_qsl

from weir.errors import UsageError
from weir.language.syntax import durations

HINT = "#weir:"
SECOND = 1_000_000


class PolicyName(Enum):
    """Which policy spends the budget; SBM and IBM have a form for aggregates, chosen by the query.

    AUTO is the best general one: FBA, and IBM for aggregates, for which the paper has no FBA.
    """

    AUTO = "auto"
    RAND = "rand"
    LRU = "lru"
    SBM = "sbm"
    IBM = "ibm"
    FBA = "fba"


class OnFailure(Enum):
    """What happens where an endpoint fails or is late: go on with what the view holds, or fail the query."""

    STALE = "stale"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Budget:
    """``per_evaluation`` is γ, at most so many refreshes at one evaluation time; ``per_period`` is Γ, at
    most so many in each ``period`` (event time, aligned to 1970), to be moved between evaluations.

    Of both, each holds. A refresh is one key of the view, however many share a request.
    """

    per_evaluation: int | None = None
    per_period: int | None = None
    period: int = 60 * SECOND

    def __post_init__(self) -> None:
        if self.per_evaluation is None and self.per_period is None:
            raise UsageError("a budget needs refreshes per evaluation, or per period, or both")
        if min(self.per_evaluation or 0, self.per_period or 0) < 0 or self.period <= 0:
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
    def declared(self) -> Mapping[str, int]:
        """The change intervals declared per predicate."""
        return dict(self.change_intervals)


def microseconds(value: object) -> int:
    """A duration: ``"5s"``, ``"500ms"``, ``"PT5S"``; a bare number counts milliseconds, as in queries."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value * 1_000
    text = str(value).strip()
    if text.isdigit():
        return int(text) * 1_000
    compact = durations.COMPACT.fullmatch(text)
    length = durations.from_units(text) if compact else durations.from_xsd(text)
    if length is None:
        raise UsageError(f"{text!r} is no duration", hint="write 5s, 500ms or PT5S")
    return length


_DURATIONS = ("change_interval", "first_interval", "cache")
_LIMITS = ("budget", "budget_per_period", "period")
_SHORT_NAMES = {"interval": "change_interval", "intervals": "change_intervals"}


def config_of(settings: Mapping[str, Any], base: ServiceConfig | None = None) -> ServiceConfig:
    """A configuration from plain settings (a file, a hint), on top of ``base``.

    ``budget`` is γ; ``budget_per_period`` with ``period`` is Γ. Every other name is a field.
    """
    known = {f.name: f for f in fields(ServiceConfig)}
    changed: dict[str, Any] = {}
    rest = dict(settings)
    limits: dict[str, Any] = {name: rest.pop(name) for name in _LIMITS if name in rest}
    for written, value in rest.items():
        name = _SHORT_NAMES.get(written, written)
        if name not in known:
            raise UsageError(
                f"unknown service setting {written!r}", hint="known: " + ", ".join(sorted(known))
            )
        changed[name] = _value(name, value)
    if limits:
        changed["budget"] = _budget(limits, base.budget if base is not None else None)
    return replace(base or ServiceConfig(), **changed)


def hinted(endpoint: str, configs: Mapping[str, ServiceConfig]) -> tuple[str, ServiceConfig]:
    """An endpoint's address without its hint, and its configuration with the hint applied.

    Queries may come from strangers: a hint can make a declared budget smaller, never larger, and it cannot
    allow what is refused.
    """
    address, mark, hint = endpoint.partition(HINT)
    base = configs.get(address, configs.get("*", ServiceConfig()))
    if not mark:
        return address, base
    pairs = parse_qsl(hint, keep_blank_values=True, strict_parsing=True) if hint else []
    told = config_of(dict(pairs), base)
    return address, replace(
        told, allow=base.allow, inner=base.inner, budget=_stricter(base.budget, told.budget)
    )


def _stricter(declared: Budget | None, told: Budget | None) -> Budget | None:
    if declared is None or told is None:
        return told or declared
    gammas = [b.per_evaluation for b in (declared, told) if b.per_evaluation is not None]
    if declared.per_period is None:
        return replace(told, per_evaluation=min(gammas, default=None))
    total = declared.per_period if told.per_period is None else min(told.per_period, declared.per_period)
    return Budget(min(gammas, default=None), total, declared.period)


def _budget(limits: Mapping[str, Any], base: Budget | None) -> Budget | None:
    if str(limits.get("budget", "")).lower() == "none":
        return None
    told: dict[str, int] = {}
    for name, field_name in (("budget", "per_evaluation"), ("budget_per_period", "per_period")):
        if name in limits:
            told[field_name] = _read(int, name, limits[name], "a whole number")
    if "period" in limits:
        told["period"] = microseconds(limits["period"])
    return Budget(**told) if base is None else replace(base, **told)


def _value(name: str, value: Any) -> Any:
    default = getattr(ServiceConfig(), name)
    if name in _DURATIONS:
        return microseconds(value)
    if name == "change_intervals":
        return tuple((str(iri), microseconds(every)) for iri, every in dict(value).items())
    if name == "headers":
        return tuple((str(key), str(text)) for key, text in dict(value).items())
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
        return kind(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is {wanted}, not {value!r}") from None
