"""Token prices: a dated built-in table, and the user's own prices.

The table is `prices.json` in this package. A file of that name in the apps' folder has the same
form, and its models take precedence. A model that is in neither has an unknown cost, never zero
(dev-uis 4.1, feature 7).
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Self

from devui.store.rows import UsageSum
from devui.store.session_lists import Rate
from devui.store.summaries import Usage

FILE = "prices.json"

_SUFFIX = re.compile(r"(?:[-@](?:\d{3}|\d{8}|\d{4}-\d{2}-\d{2}|latest)|-preview(?:-[\d-]+)?)?")
"""A suffix that doesn't make it another model: a version, a date, `preview`."""

_NO_LIMIT = 2**62


class WrongPrices(ValueError):
    """The user's price table can't be read; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices in dollars per million tokens."""

    input: float
    cached: float | None
    """The price of cached prompt tokens; None if the table doesn't give one."""
    output: float
    """The price of the answer's tokens, thinking included."""

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of these tokens in dollars; None if some have no known price."""
        if usage.cached and self.cached is None:
            return None
        fresh, cached = usage.prompt - usage.cached, usage.cached * (self.cached or 0.0)
        return math.fsum((fresh * self.input, cached, usage.output * self.output)) / 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one model."""

    name: str
    rates: Rates
    source: str
    """`prices of 2026-11-05`, or the path of the user's own table."""
    above: int | None = None
    """With more prompt tokens than this, the whole call is priced at `long`; None if the length
    doesn't matter."""
    long: Rates | None = None

    def for_prompt(self, tokens: int) -> Rates:
        """Return the rates for a prompt of this many tokens."""
        is_long = self.above is not None and tokens > self.above
        return self.long if is_long and self.long is not None else self.rates


@dataclass(frozen=True, slots=True)
class CostSum:
    """The cost of several answers, as far as it is known."""

    cost: float | None
    """The sum of the known costs, in dollars; None if none is known."""
    unpriced: int
    """How many answers have an unknown cost, which is missing from the sum."""


class Prices:
    """The prices of models by name."""

    def __init__(self, prices: Mapping[str, Price], date: str) -> None:
        self._prices = prices
        self._by_model: dict[str, Price | None] = {}
        self.date = date
        """The date of the built-in table: `2026-11-05`."""
        limits = {price.above for price in prices.values() if price.above is not None}
        self.limits = tuple(sorted(limits))
        """The prompt sizes above which some model costs more, in tokens."""

    @classmethod
    def load(cls, apps: Path) -> Self:
        """Load the built-in table and the one in the apps' folder, if any; raises WrongPrices."""
        text = (resources.files("devui") / FILE).read_text("utf-8")
        table = json.loads(text)
        prices = _prices(table, f"prices of {table['date']}")
        own = apps / FILE
        if own.is_file():
            prices |= _own(own)
        return cls(prices, str(table["date"]))

    def find(self, model: str) -> Price | None:
        """Return the price of a model by any provider's spelling of its name, if known."""
        if model not in self._by_model:
            plain = model.rpartition("/")[2]
            names = (each for each in (model, plain) if each)
            self._by_model[model] = next((p for name in names if (p := self._price_of(name))), None)
        return self._by_model[model]

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of one answer in dollars; None if the model's price is unknown."""
        price = self.find(usage.model)
        return None if price is None else price.for_prompt(usage.prompt).cost(usage)

    def total(self, sums: Iterable[UsageSum]) -> CostSum:
        """Return the cost of token sums, grouped by model and by the limit their prompts exceed."""
        costs, unpriced = [], 0
        for each in sums:
            price = self.find(each.usage.model)
            prompt = self.limits[each.over - 1] + 1 if each.over else 0
            cost = price.for_prompt(prompt).cost(each.usage) if price else None
            if cost is None:
                unpriced += each.answers
            else:
                costs.append(cost)
        return CostSum(math.fsum(costs) if costs else None, unpriced)

    def rates(self, models: Iterable[str]) -> list[Rate]:
        """Return the prices of the models for short prompts and, if different, for long ones."""
        rates = []
        for model in models:
            price = self.find(model)
            if price is None:
                continue
            bands = [(-1, _NO_LIMIT)]
            if price.above is not None and price.long is not None:
                bands = [(-1, price.above), (price.above, _NO_LIMIT)]
            for low, high in bands:
                paid = price.for_prompt(low + 1)
                rates.append(Rate(model, low, high, paid.input, paid.cached, paid.output))
        return rates

    def _price_of(self, name: str) -> Price | None:
        fits = [
            price
            for prefix, price in self._prices.items()
            if name.startswith(prefix) and _SUFFIX.fullmatch(name, len(prefix))
        ]
        return max(fits, key=lambda price: len(price.name), default=None)


def _own(path: Path) -> dict[str, Price]:
    try:
        return _prices(json.loads(path.read_text("utf-8")), str(path))
    except OSError as error:
        raise WrongPrices(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise WrongPrices(
            f"{path} isn't a valid price table: {reason}. It has to look like "
            '{"models": [{"name": "my-model", "input": 1.5, "cached": 0.15, "output": 6}]}, '
            "in dollars for a million tokens"
        ) from error


def _prices(table: Mapping[str, Any], source: str) -> dict[str, Price]:
    """Parse a table; raises ValueError, TypeError, KeyError or AttributeError if malformed."""
    prices = {}
    for entry in table["models"]:
        name = entry["name"]
        if not isinstance(name, str) or not name:
            raise ValueError(f"{name!r} is not a valid model name")
        long = entry.get("long")
        above = None if long is None else _number(long["above"], name)
        prices[name] = Price(
            name,
            _rates(entry, name),
            source,
            above=None if above is None else int(above),
            long=None if long is None else _rates(long, name),
        )
    return prices


def _rates(entry: Mapping[str, Any], name: str) -> Rates:
    """Parse rates. Without `cached`, cached tokens cost as much as others; null means unknown."""
    paid, cached = _number(entry["input"], name), entry.get("cached", entry["input"])
    rate = None if cached is None else _number(cached, name)
    return Rates(paid, rate, _number(entry["output"], name))


def _number(value: object, name: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(float(str(value))) or float(str(value)) < 0:
        raise ValueError(f"{value!r} of {name} is not a valid price")
    return float(str(value))
