"""Where work runs: in this process, in several, or on Ray, Dask or Spark."""
