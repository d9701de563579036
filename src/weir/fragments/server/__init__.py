"""The fragments server: Triple and Quad Pattern Fragments over static graphs and dynamic facts."""

from weir.fragments.server.app import ADMITTED, FragmentsApp
from weir.fragments.server.dataset import Dataset, Limits
from weir.fragments.server.facts import Retention
from weir.fragments.server.fast_path import FastPath, protocol, server
from weir.fragments.server.publish import Publisher

__all__ = [
    "ADMITTED",
    "Dataset",
    "FastPath",
    "FragmentsApp",
    "Limits",
    "Publisher",
    "Retention",
    "protocol",
    "server",
]
