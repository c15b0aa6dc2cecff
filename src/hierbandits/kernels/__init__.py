"""Compiled loops on plain arrays: no policy, no I/O, no random generator.

`dense` and `diagonal` hold the same functions for the two forms of a hierarchy, with the same
arguments, so that a belief picks one of them once.  `lineage`, `choice` and `checks` serve both.
"""
