"""`python -m bench.first_paint`: how soon the page is there, with 1,000,000 tasks.

Chromium opens the page of a policy anew each time, without a cache.  The first paint is what the
browser says of itself; the view is there when it shows what it was asked for.
"""

import argparse
import shutil
import sys

from playwright.sync_api import Browser, sync_playwright

from bench.served import Caller, served

AT_ONCE = 10_000
PATIENCE = 120_000  # milliseconds
VIEWS = {"overview": "h1", "tasks": "tbody tr", "population": "svg"}
"""What each view shows when it is there."""


def fill(port: int, tasks: int) -> None:
    """Let a policy decide once for each of so many tasks, and reward it."""
    caller = Caller(port)
    caller.ask("PUT", "/policies/p", {"arms": ["x", "y", "z"], "draws": 0, "most_pending": 10**7})
    for start in range(0, tasks, AT_ONCE):
        rows = [{"task": f"task {n}"} for n in range(start, min(start + AT_ONCE, tasks))]
        made = caller.ask("POST", "/policies/p/rounds", {"decisions": rows})["decisions"]
        rewards = [{"id": one["id"], "value": n % 2} for n, one in enumerate(made)]
        caller.ask("POST", "/policies/p/rewards", {"rewards": rewards})


def seconds_of(browser: Browser, port: int, view: str) -> tuple[float, float]:
    """The seconds until the first paint, and until the view is there."""
    page = browser.new_context().new_page()
    page.goto(f"http://127.0.0.1:{port}/dashboard#/policy/p/{view}")
    page.locator(f"main >> {VIEWS[view]}").first.wait_for(timeout=PATIENCE)
    there = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.context.close()
    return paint / 1000, there / 1000


def main() -> None:
    """Print the seconds of each view: the middle of some times, and the longest."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium must be installed")
    with served() as port, sync_playwright() as play:
        fill(port, given.tasks)
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for view in VIEWS:
            rows = sorted(seconds_of(browser, port, view) for _ in range(given.times))
            paint, there = zip(*rows, strict=True)
            middle = given.times // 2
            print(
                f"{view:12} {given.tasks:,} tasks: first paint {paint[middle]:.2f} s, at most "
                f"{max(paint):.2f} s; there {sorted(there)[middle]:.2f} s, at most "
                f"{max(there):.2f} s",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
