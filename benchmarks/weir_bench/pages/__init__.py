"""The benchmarks page: made from the JSON of recorded runs, never typed (``weir bench report DIR``)."""

from weir_bench.pages.page import Pages, write_pages

__all__ = ["Pages", "write_pages"]
