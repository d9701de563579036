"""Static graphs: where they are read from, what of them a query needs, and how updates change them.

An engine collects ``GraphSources``; opened, they are ``StaticGraphs``, which give the extract of each query.
"""

from weir.linked.graphs.extract import Dealt, StaticGraphs
from weir.linked.graphs.graph_files import RemoteGraph
from weir.linked.graphs.graph_sources import GraphSources, read_graphs

__all__ = [
    "Dealt",
    "GraphSources",
    "RemoteGraph",
    "StaticGraphs",
    "graph_files",
    "history",
    "large_scans",
    "parquet_store",
    "read_graphs",
    "store_source",
    "triple_tables",
]
