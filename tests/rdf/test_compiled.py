"""Loops that are compiled later: the same results, numba untouched until one is called."""

from __future__ import annotations

import subprocess
import sys

from weir.rdf.compiled import CompiledLater, is_up, njit


@njit()
def twice(number: int) -> int:
    """Twice a number."""
    return 2 * number


@njit()
def fourfold(number: int) -> int:
    return twice(twice(number))


def test_a_function_is_compiled_with_what_it_calls() -> None:
    assert isinstance(fourfold, CompiledLater)
    assert twice.__doc__ == "Twice a number."
    assert fourfold(3) == 12
    assert not isinstance(fourfold.made(), CompiledLater)
    assert not isinstance(globals()["twice"], CompiledLater)
    assert twice(4) == 8
    assert is_up()


def test_explaining_a_query_leaves_numba_and_spark_alone() -> None:
    script = """if True:
        import sys
        import weir
        from weir.cli.explain import explain_text
        explain_text(weir.parse("SELECT * { STREAM <http://e/s> [NOW] { ?s <http://e/p> 1 } }"))
        loaded = {"numba.core", "pandas", "pyspark", "httpx._client"} & sys.modules.keys()
        assert not loaded, loaded
    """
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
