"""What commands share: options and how their texts are read, errors as exit states."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from weir.errors import CheckpointError, SyntaxError, TranslationError, UsageError, WeirError, WeirWarning
from weir.storage.places import local_path

QueryFiles = Annotated[list[Path], typer.Argument(help="Query files.", metavar="QUERY")]
QueryFile = Annotated[Path, typer.Argument(help="A query file.", metavar="QUERY")]
Dialect = Annotated[str, typer.Option(help="auto, rspql, cqels, csparql or sparqlstream.")]
Routing = Annotated[str, typer.Option(help="How joins are ordered while they run: cost or cardinality.")]
Master = Annotated[str | None, typer.Option(help="The Spark master; all local cores by default.")]
TracesTo = Annotated[
    str | None,
    typer.Option(
        help="An OpenTelemetry collector that gets a trace of each batch, http://localhost:4318.",
        metavar="URL",
    ),
]


def options_of(kind: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose first parameter is a dataclass takes the fields of that as options, before its own."""

    def command(function: Callable[..., None]) -> Callable[..., None]:
        _, *own = inspect.signature(function, eval_str=True).parameters.values()
        types = get_type_hints(kind, include_extras=True)
        shared = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if each.default is MISSING else each.default,
                annotation=types[each.name],
            )
            for each in fields(kind)
        ]

        def run(**given: Any) -> None:
            mine = {each.name: given.pop(each.name) for each in own}
            function(kind(**given), **mine)

        every = [*shared, *own]
        made: Any = run
        made.__name__, made.__doc__ = function.__name__, function.__doc__
        made.__signature__ = inspect.Signature(every)
        made.__annotations__ = {each.name: each.annotation for each in every}
        return run

    return command


def pair(text: str, option: str, form: str) -> tuple[str, str]:
    """IRI and source. An IRI may contain ``=``: the first cut that leaves something to read counts."""
    places = [place for place, sign in enumerate(text) if sign == "="]
    if not places:
        raise UsageError(f"{option} takes {form}, not {text!r}")
    for place in places:
        source = text[place + 1 :]
        path = source.removeprefix("replay:").partition("?")[0]
        if Path(source).exists() or (path and Path(path).exists()) or "://" in source:
            return text[:place].strip("<>"), source
    return text[: places[0]].strip("<>"), text[places[0] + 1 :]


def read_query(path: Path) -> str:
    try:
        return local_path(path, "a query").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"no such query file: {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the query file {path}", detail=str(error)) from None


_USAGE = (SyntaxError, UsageError, TranslationError, CheckpointError)


@contextmanager
def reported() -> Iterator[None]:
    """Weir's errors and warnings as messages on standard error; an error has the exit status of its kind."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", WeirWarning)
            warnings.showwarning = _shown(warnings.showwarning)
            yield
    except WeirError as error:
        typer.echo(f"weir: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, _USAGE) else 1) from None


def _shown(before: Callable[..., Any]) -> Callable[..., Any]:
    """Shows Weir's warnings as messages, and others as ``before``."""

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, WeirWarning):
            typer.echo(f"weir: warning: {message}", err=True)
        else:
            before(message, category, *place, **more)

    return show
