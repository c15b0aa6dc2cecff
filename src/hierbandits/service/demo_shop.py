"""A simulated shop that uses the service, so that the page has something to show."""

import asyncio
import heapq
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np

from hierbandits.service.api_problem import Problem
from hierbandits.service.json_log import say
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.service import Service
from hierbandits.service.wire import DecisionRequest

NAME = "demo-shop"
MARK = "demo"
"""The file that says that a folder is a demonstration's."""

CONTROL = "classic"
BANNERS = {CONTROL: 0.08, "winter sale": 0.11, "free delivery": 0.15, "gift": 0.09, "new in": 0.06}
"""The chance of a sale by banner, in an average city."""

CITIES = (
    "Aarhus", "Basel", "Bergen", "Bologna", "Brno", "Bruges", "Cork", "Debrecen", "Dresden",
    "Gdańsk", "Ghent", "Graz", "Kaunas", "Košice", "Leeds", "Leipzig", "Lille", "Linz", "Lund",
    "Lyon", "Malmö", "Nantes", "Odense", "Palma", "Pécs", "Porto", "Rennes", "Riga", "Seville",
    "Split", "Tampere", "Tartu", "Turin", "Utrecht", "Varna", "Zadar",
)  # fmt: skip
PAST = 86_400.0
"""Seconds that the shop has been open when somebody looks for the first time."""

_STEP = 300.0  # seconds between two rounds of the past
_PAUSE = 1.0  # and of the present
_VISITORS = 40.0  # of a round, on average
_DELAY = 240.0  # seconds to a sale, on average
_LOST = 0.05  # the share of visitors of whom nothing is heard again
SETTINGS = PolicySettings(
    arms=list(BANNERS), rewards="bernoulli", reward_wait=1800.0, default_reward=0.0,
    control_share=0.2, control_arm=CONTROL,
    description="A demonstration: a simulated shop, in which nobody real decides or buys. The "
    "tasks are cities, the arms are banners, a reward of 1 is a sale.",
)  # fmt: skip


class DemoClock:
    """The time of the shop: it runs through its past first, and then is ours."""

    def __init__(self) -> None:
        self.now: float | None = time.time() - PAST

    def __call__(self) -> float:
        """Seconds since 1970."""
        return time.time() if self.now is None else self.now


class DemoShop:
    """Visitors who come to a service, and what they buy."""

    def __init__(self, service: Service, clock: DemoClock, seed: int = 0) -> None:
        self._service, self._clock, self._rng = service, clock, np.random.default_rng(seed)
        logits = np.log([one / (1 - one) for one in BANNERS.values()])
        odds = np.exp(logits + self._rng.normal(0.0, 0.35, (len(CITIES), len(BANNERS))))
        self._sales = odds / (1 + odds)
        self._banner = {name: place for place, name in enumerate(BANNERS)}
        self._coming: list[tuple[float, str, float]] = []  # when, which decision, what

    async def run(self) -> None:
        """Live through the past, then go on in the present until somebody ends it."""
        if NAME not in self._service.book.names:
            await self._service.book.put(NAME, SETTINGS)
            end = time.time()
            while self._clock.now is not None and self._clock.now < end - _STEP:
                self._clock.now += _STEP
                await self._round(self._rng.poisson(_VISITORS))
        self._clock.now = None
        say("the shop of the demonstration is open", policy=NAME)
        while True:
            await asyncio.sleep(_PAUSE)
            try:
                await self._round(self._rng.poisson(_VISITORS * _PAUSE / 60))
            except Problem as problem:  # the service may be busy, or the policy deleted
                say("the demonstration waits", logging.WARNING, error=str(problem))
                await asyncio.sleep(10 * _PAUSE)

    async def _round(self, visitors: int) -> None:
        now = self._clock()
        turns = self._service.book.turns(NAME)
        given = []
        while self._coming and self._coming[0][0] <= now:
            _, id, value = heapq.heappop(self._coming)
            given.append((id, value))
        if given:
            await turns.ask("call", lambda: turns.live.reward(given))
        if visitors == 0:
            return
        places = self._rng.integers(len(CITIES), size=visitors).tolist()
        asked = [DecisionRequest(CITIES[place]) for place in places]
        made: list[Any] = await turns.ask("call", lambda: turns.live.decide(asked))
        for place, one in zip(places, made, strict=True):
            if isinstance(one, Problem) or self._rng.random() < _LOST:
                continue
            is_sale = self._rng.random() < self._sales[place, self._banner[one.arm]]
            when = now + self._rng.exponential(_DELAY)
            heapq.heappush(self._coming, (when, one.id, float(is_sale)))


def claim_folder(folder: Path) -> None:
    """Mark a folder as a demonstration's; one that holds anything else is refused."""
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise ValueError(f"data must be a new folder, or a demonstration's, got {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
