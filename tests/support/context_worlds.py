"""Logs of decisions that had a context, in worlds whose mean rewards are known."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from hierbandits import Columns, Log

PROMOS = ("none", "flyer", "café ☕")
CITIES = ("Köln", "北京", "São Paulo")
CONTEXT = ("age", "city", "vip")
NAMES = {"task": "store", "arm": "promo", "reward": "revenue", "features": CONTEXT}


@dataclass
class ContextWorld:
    """Mean rewards by store, promo, age, city and vip; linear in what an encoder makes of them."""

    base: np.ndarray  # (stores, promos)
    slope: np.ndarray  # of (age - 40) / 10, (stores, promos)
    city: np.ndarray  # (promos, cities)
    noise: float = 0.5

    @classmethod
    def drawn(cls, rng, stores=6):
        base = rng.normal(1.0, 0.2, 3) + rng.normal(0, 0.3, (stores, 3))
        slope = np.array([0.0, 0.6, -0.6]) + rng.normal(0, 0.1, (stores, 3))
        return cls(base, slope, rng.normal(0, 0.3, (3, 3)))

    @property
    def stores(self):
        return [f"Laden {i} ü" for i in range(len(self.base))]

    def visitors(self, rng, count):
        """Who comes: places of stores, ages, places of cities, and whether they are vip."""
        store = rng.integers(0, len(self.base), count)
        age = np.round(rng.normal(40, 10, count))
        return store, age, rng.choice(3, count, p=[0.5, 0.3, 0.2]), rng.random(count) < 0.3

    def means(self, store, age, city):
        """The mean reward of every promo, (E, 3)."""
        slope = self.slope[store] * ((age - 40) / 10)[:, None]
        return self.base[store] + slope + self.city.T[city]

    def log_odds(self, age):
        """What the log's policy does: the flyer more often to the old."""
        wish = np.stack([np.zeros(age.size), (age - 40) / 15, np.full(age.size, 0.3)], axis=1)
        odds = np.exp(wish)
        return 0.8 * odds / odds.sum(axis=1, keepdims=True) + 0.2 / 3

    def frame(self, rng, count):
        """A log with propensities."""
        store, age, city, vip = self.visitors(rng, count)
        odds = self.log_odds(age)
        promo = np.minimum((odds.cumsum(1) < rng.random((count, 1))).sum(1), 2)
        each = np.arange(count)
        mean = self.means(store, age, city)[each, promo]
        return pl.DataFrame(
            {
                "store": [self.stores[i] for i in store],
                "promo": [PROMOS[i] for i in promo],
                "revenue": mean + self.noise * rng.normal(size=count),
                "age": age,
                "city": [CITIES[i] for i in city],
                "vip": vip,
                "p": odds[each, promo],
            }
        )


def context_log(seed=0, count=600, stores=6, **more):
    """A world, the frame of a log from it, and the log."""
    rng = np.random.default_rng(seed)
    world = ContextWorld.drawn(rng, stores)
    frame = world.frame(rng, count)
    return world, frame, Log.read(frame, Columns(**NAMES, **more))
