"""Linked Data Event Streams: the members that a data set publishes, and a client that reads members."""

from weir.fragments.ldes.fact_versions import PAGE, Change, Member, Members, Span
from weir.fragments.ldes.reader import Bookmark, LdesOptions, read_members
from weir.fragments.ldes.tree_page import Item

__all__ = [
    "PAGE",
    "Bookmark",
    "Change",
    "Item",
    "LdesOptions",
    "Member",
    "Members",
    "Span",
    "read_members",
]
