"""NEXMark and LSBench in RDF: auctions and a social network, made in any size, and what is asked of them."""

__all__ = ["benchmark"]
