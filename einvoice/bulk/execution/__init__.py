"""Validates many files: serially, in worker processes, or on a Dask cluster."""
