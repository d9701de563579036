"""The conference demo: CQELS's scenario, live (section 4 of the paper)."""

from weir.demo.show import run

__all__ = ["run"]
