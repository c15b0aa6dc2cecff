"""The command line of the benchmarks."""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from bench.machine import machine, versions
from bench.page import page
from bench.results import FULL, QUICK, measure
from bench.tables import all_tables
from bench.targets import targets


def main(arguments: Sequence[str] | None = None, clock: Callable[[], float] = time.time) -> None:
    """Run the benchmarks as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--out", type=Path, help="where the figures go [results/bench.json]")
    parser.add_argument(
        "--page", type=Path, help="where the page goes [docs/benchmarks.md; none with --quick]"
    )
    options = parser.parse_args(arguments)
    console = Console(width=120)
    start = clock()
    results = measure(
        QUICK if options.quick else FULL,
        lambda text: console.print(f"[dim]{clock() - start:6.1f} s[/dim]  {text}"),
    )
    for table in all_tables(results):
        console.print(table.rich())
    date = datetime.fromtimestamp(start, UTC).date().isoformat()
    about = {"date": date, "machine": machine(), "versions": versions()}
    verdicts = [asdict(target) | {"met": target.met} for target in targets(results)]
    figures = about | {"quick": options.quick, "targets": verdicts} | asdict(results)
    out = options.out or Path("results/bench-quick.json" if options.quick else "results/bench.json")
    _write(out, json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    if options.page or not options.quick:
        text = page(results, machine(), versions(), date)
        _write(options.page or Path("docs/benchmarks.md"), text)
    console.print(f"{clock() - start:.0f} s in all; figures in {out}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
