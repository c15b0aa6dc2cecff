"""Benchmarks: how fast the package is, and how near to what the machine can do."""
