"""Compiled loops on plain arrays: no policy, no I/O, no random generator.

`dense` and `diagonal` offer the same loops, those of `Loops`.  A belief picks one of the two once.
The other files serve both.
"""
