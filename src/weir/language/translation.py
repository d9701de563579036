"""``translate``: a query in another dialect, or as a network of queries where one does not suffice."""

from __future__ import annotations

from weir.language.algebra.query import Dialect, Query
from weir.language.frontend import dialect_named
from weir.language.writing.dialects import write
from weir.language.writing.network import needs_network, network


def translate(query: Query, dialect: str | Dialect) -> str | list[tuple[str, str]]:
    """The query's text in a dialect (raises ``weir.TranslationError`` with the missing feature).

    Where C-SPARQL cannot keep windows apart, the answer is the network of the RSP-QL paper's section 4:
    a list of (name, text), each query reading streams that those before it register.
    """
    target = dialect if isinstance(dialect, Dialect) else dialect_named(dialect) or query.dialect
    if target is Dialect.CSPARQL and needs_network(query):
        return network(query)
    return write(query, target)
