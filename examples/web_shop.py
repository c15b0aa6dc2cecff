"""A small web shop that lets the decision service choose its banner, customer by customer.

    hierbandits serve --data shop-data                   # one terminal
    python examples/web_shop.py shop-buffer --port 8000  # another; then open http://127.0.0.1:8000

Every country is a task: what is learned in one teaches the others.  A page asks the service for a
banner.  A click on the banner is a reward of 1, and the service itself gives 0 to a banner that
nobody clicks for a minute.  Clicks go through a buffer on the disk: a click that the shop has
answered is learned, even if the service is away just now, or the shop is killed.  If the service
does not decide in time, the shop shows its usual banner: no page waits for it.

It needs `pip install 'hierbandits[client,serve]'`; HIERBANDITS_URL and HIERBANDITS_TOKEN say where
the service is, and who asks.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

import hierbandits as hb
from hierbandits.client import ServiceError

POLICY = "banners"
BANNERS = {
    "winter": "Warm socks for cold days",
    "gift": "A gift with every order",
    "free": "Free shipping this week",
}
USUAL = "winter"
SETTINGS = {
    "arms": list(BANNERS),
    "rewards": "bernoulli",
    "reward_wait": 60,  # seconds until a banner that nobody clicks has its default
    "default_reward": 0,
}
PAGE = """<!doctype html><title>Socks</title>
<h1>Socks</h1>
<p>Visitors from {country} see:</p>
{banner}
<p><a href="/?country={country}">Come again</a></p>
"""
LINK = '<p><a id="banner" href="/banner/{id}">{text}</a></p>'


class Shop:
    """The pages, and what they ask of the service."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._client = hb.AsyncClient(timeout=1.0, retries=0)  # a page must not wait
        self._patient = hb.Client()
        self._patient.put_policy(POLICY, SETTINGS)  # the same settings again change nothing
        self._clicks = self._patient.buffered_rewards(folder / "clicks.log", POLICY)

    async def home(self, request: Request) -> HTMLResponse:
        """A page with the banner that the service has chosen for the visitor's country."""
        country = request.query_params.get("country", "CH")[:2]
        try:
            decision = await self._client.decide(POLICY, country)
            link = LINK.format(id=decision.id, text=BANNERS[str(decision.arm)])
        except ServiceError:
            link = f"<p>{BANNERS[USUAL]}</p>"
        return HTMLResponse(PAGE.format(country=escape(country), banner=link))

    async def click(self, request: Request) -> RedirectResponse:
        """A click: its reward is on the disk before the visitor goes on."""
        await asyncio.to_thread(self._clicks.add, request.path_params["id"], 1.0)
        return RedirectResponse("/offer", status_code=303)

    async def offer(self, request: Request) -> HTMLResponse:
        """Where a banner leads."""
        return HTMLResponse("<!doctype html><title>Socks</title><h1>Here you are</h1>")

    @asynccontextmanager
    async def life(self, app: Starlette) -> AsyncIterator[None]:
        """At the end, send the clicks that can be sent; others stay on the disk."""
        yield
        await asyncio.to_thread(self._clicks.close)
        self._patient.close()
        await self._client.close()


def main() -> None:
    """Serve the shop until it is told to stop."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where clicks wait to be sent")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    shop = Shop(options.folder)
    routes = [
        Route("/", shop.home),
        Route("/banner/{id}", shop.click),
        Route("/offer", shop.offer),
    ]
    uvicorn.run(Starlette(routes=routes, lifespan=shop.life), port=options.port)


if __name__ == "__main__":
    main()
