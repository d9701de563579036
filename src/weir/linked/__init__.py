"""Linked Data that streams are joined with: static graphs, remote endpoints, and the one HTTP client.

``graphs`` reads static graphs from files, stores and URLs, and cuts each query's extract out of them;
``service`` answers SERVICE from a local view that is refreshed under a budget; ``http`` is how anything is
fetched, ``serving`` what all servers of Weir's share.
"""

__all__ = ["graphs", "http", "service", "serving"]
