"""The same jobs on a cluster of Dask."""
