"""Static graphs, cached views and indexes, SERVICE views and their refresh policies, fragments client."""
