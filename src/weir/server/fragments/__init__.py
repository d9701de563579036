"""The fragments server: Triple and Quad Pattern Fragments over static graphs and dynamic facts."""

from weir.server.fragments.app import FragmentsApp
from weir.server.fragments.app import FragmentsApp as app
from weir.server.fragments.dataset import Dataset
from weir.server.fragments.facts import Retention
from weir.server.fragments.lane import Lane, protocol, server
from weir.server.fragments.limits import Limits
from weir.server.fragments.publish import Publisher
from weir.server.fragments.sink import FragmentsSink

__all__ = [
    "Dataset",
    "FragmentsApp",
    "FragmentsSink",
    "Lane",
    "Limits",
    "Publisher",
    "Retention",
    "app",
    "protocol",
    "server",
]
