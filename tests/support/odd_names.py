"""Names that nobody would choose, but that logs may hold."""

ODD_NAMES = ["\x1b[31mred\x07", r"$\frac$", "x" * 1_000, "a\nb\u202e", "<script>"]
