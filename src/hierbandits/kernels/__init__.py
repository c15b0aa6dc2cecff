"""Compiled loops on plain arrays: no policy, no I/O, no random generator.

`dense` and `diagonal` hold the same functions, with the same arguments, for the two forms of a
hierarchy: a belief picks one of them once.  `lineage` and `tie_breaking` serve both.
"""
