"""The interval evaluator: a query's plan as operators, run on a slab of any number of evaluation times at
once.

``compiler`` makes operators of a plan, ``evaluator`` runs them from slab to slab, ``query_forms`` makes
answers of their rows. ``second_stage`` answers a query whose patterns were evaluated in several slots.
"""

__all__ = ["evaluator", "query_forms", "second_stage"]
