"""How fast Weir starts, and how fast it answers one message: Spark, the empty jobs, the direct runner."""
