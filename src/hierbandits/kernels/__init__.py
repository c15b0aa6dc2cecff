"""Compiled loops on plain arrays: no policy, no I/O, no random generator.

`dense`, `diagonal` and `arm_vectors` offer the same loops, those of `Loops`.  A belief picks one of
them once.  The other files serve them all.
"""
