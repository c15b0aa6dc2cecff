"""Hostile use for long, one module for each kind of it; `python -m tests.soak` runs them all.

A module has a function `main(seconds)` that lasts about so long, returns what it counted, and
raises an error if anything was wrong.
"""
