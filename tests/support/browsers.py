"""Chromium, driven by Playwright, which fails a test on errors and on requests to elsewhere."""

import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def browser():
    """A browser of its own; without one the tests say so."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright: no page is tried")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: the page is not tried in a browser")
    with sync_api.sync_playwright() as play:
        one = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield one
        finally:
            one.close()


class Visit:
    """A page of a service in a window, and what went wrong in it."""

    def __init__(self, browser, server, *, width=1200, dark=False, expects_errors=False, **options):
        self.server, self._expects_errors = server, expects_errors
        self._context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            **options,
        )
        self.page = self._context.new_page()
        self.page.set_default_timeout(30_000)
        self.errors, self.elsewhere, self.asked = [], [], []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._requested)

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _requested(self, request):
        self.asked.append(request.url)
        if not request.url.startswith((self.server.url, "data:")):
            self.elsewhere.append(request.url)

    def __enter__(self):
        return self

    def __exit__(self, kind, *error):
        self._context.close()
        if kind is None:
            assert self.elsewhere == []
            if not self._expects_errors:
                assert self.errors == []

    def open(self, where=""):
        """Go to a view, which is loaded anew."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.server.url}/dashboard{where}")
        return self.page

    def fits(self):
        """Whether nobody must scroll sideways."""
        width = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        return width <= 0
