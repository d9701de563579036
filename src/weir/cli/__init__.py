"""The command line: a thin shell over the engine, the server and the benchmarks."""

from weir.cli.main import main

__all__ = ["main"]
