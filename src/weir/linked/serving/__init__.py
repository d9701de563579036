"""What every HTTP server of Weir's shares: ``admission`` says who may ask, ``bounded_protocol`` how long the
head of a request may be and how many connections there are."""

__all__ = ["admission", "bounded_protocol"]
