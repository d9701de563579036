"""The fragments server: Triple and Quad Pattern Fragments over static graphs and dynamic facts."""

from weir.fragments.server.app import FragmentsApp
from weir.fragments.server.app import FragmentsApp as app
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.facts import Retention
from weir.fragments.server.lane import Lane, protocol, server
from weir.fragments.server.limits import Limits
from weir.fragments.server.publish import Publisher

__all__ = [
    "Dataset",
    "FragmentsApp",
    "Lane",
    "Limits",
    "Publisher",
    "Retention",
    "app",
    "protocol",
    "server",
]
