"""Short cuts, behind one door: each answers what the operators would, or declines.

``nothing there`` skips evaluations at which a window that every solution needs is empty; ``single_message``
evaluates one message row by row, where arrays cost more than their data; ``distinct_join`` makes the set of
triples that CONSTRUCT sends without the rows of its last join. Each saves a multiple on the conference
benchmark, and a property test compares each with the reference.
"""

from weir.kernel.fast.distinct_join import DistinctJoin
from weir.kernel.fast.short_cuts import NothingThere, ShortCut, plain_form
from weir.kernel.fast.single_message import single_message

__all__ = ["DistinctJoin", "NothingThere", "ShortCut", "plain_form", "single_message"]
