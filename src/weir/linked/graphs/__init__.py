"""Static graphs: files read into encoded columns, and the Parquet store that holds large ones."""
