"""Makes the pictures of the service's page that operating.md shows.

python docs/page_pictures.py    # runs a demonstration, and needs Chromium
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
PORT = 18_999
URL = f"http://127.0.0.1:{PORT}"
VIEWS = {
    "page_overview": ("#/policy/demo-shop/overview", "text=Predictions", 1100),
    "page_task": ("#/policy/demo-shop/task/%22Riga%22", ".rows svg", 1100),
    "page_decision": (None, ".answer p", 1100),
    "page_phone": ("#/policy/demo-shop/overview", "text=Predictions", 390),
}
"""By the name of the picture: the view, what it waits for, and how wide it is."""


def main() -> None:
    """Let the demonstration open, then take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["serve", "--demo", "--data", f"{folder}/data", "--port", str(PORT)]
        process = subprocess.Popen([sys.executable, "-m", "hierbandits", *words])
        try:
            _wait_until_open()
            with sync_playwright() as play:
                chromium = shutil.which("chromium")
                browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                for name, (view, mark, width) in VIEWS.items():
                    _take(browser, name, view, mark, width)
                browser.close()
        finally:
            process.terminate()
            process.wait()


def _wait_until_open() -> None:
    """The shop has lived through its past when its latest decision is of now."""
    for _ in range(600):
        time.sleep(0.5)
        try:
            found = httpx.get(f"{URL}/policies/demo-shop/recent?limit=1", timeout=60).json()
            if time.time() - found["decisions"][0]["time"] < 60:
                return
        except (httpx.HTTPError, LookupError, ValueError):
            continue
    raise RuntimeError("the demonstration does not open")


def _take(browser, name, view, mark, width) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{URL}/dashboard{view or '#/policy/demo-shop/decisions'}")
    if view is None:  # a decision that was nearly another one has most to tell
        page.wait_for_selector("tbody tr")
        shares = page.locator("tbody tr td:nth-child(4)").all_inner_texts()
        values = [float(text.rstrip(" %").replace("–", "100")) for text in shares]
        chosen = min(range(len(values)), key=lambda place: abs(values[place] - 50))
        page.locator("tbody tr").nth(chosen).locator("a").first.click()
    page.wait_for_selector(mark)
    page.wait_for_timeout(500)
    height = 1500 if width < 500 else None
    box = None if height is None else {"x": 0, "y": 0, "width": width, "height": height}
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path, full_page=True, clip=box)
    page.close()
    _shrink(path)


def _shrink(path: Path) -> None:
    """256 colours are enough for lines and text; with fewer some arms would look alike."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    main()
