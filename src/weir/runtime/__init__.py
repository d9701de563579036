"""The pipeline on Spark: session, sources, frames, processor, sinks. The only importer of pyspark."""
