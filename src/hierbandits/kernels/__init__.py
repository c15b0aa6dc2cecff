"""Compiled loops on plain arrays: no policy, no I/O, no random generator.

`dense`, `diagonal`, `arm_vectors` and `common_part` offer the same loops, those of `Loops`.  A
belief picks one of them once.  The other files serve them all.
"""
