"""Short cuts, behind one door: each answers what the operators would, or declines.

``short_cuts`` has what they share, and skips evaluations at which a window that every solution needs is
empty; ``single_message`` evaluates one message row by row, where arrays cost more than their data;
``distinct_join`` makes the set of triples that CONSTRUCT sends without the rows of its last join. Each saves
a multiple on the conference benchmark, and a property test compares each with the reference.
"""

__all__ = ["distinct_join", "short_cuts", "single_message"]
