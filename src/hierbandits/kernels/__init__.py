"""Compiled loops on plain arrays: no policy, no I/O, no random generator.

`dense` and `diagonal` offer the same five functions with the same arguments: observe, shift, draw,
predict, accumulate.  A belief picks one of the two once.  The other files serve both.
"""
