"""Queries in a notebook: an answer as rows, tables and frames; frames as streams.

``asking`` runs a query over finite streams, ``result_set`` has its results, ``frame_streams`` make a stream
of a table.
"""

from weir.notebook.asking import Live, live, query
from weir.notebook.frame_streams import FrameStream, literal
from weir.notebook.result_set import Results

__all__ = ["FrameStream", "Live", "Results", "literal", "live", "query"]
