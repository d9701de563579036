"""The pipeline without Spark: what is registered, what comes in, what workers keep, what goes out."""
