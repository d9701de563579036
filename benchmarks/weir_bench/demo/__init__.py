"""The conference demo: CQELS's scenario, live (section 4 of the paper)."""

from weir_bench.demo.screen import run

__all__ = ["run"]
