"""What a session's models counted and what that costs, over HTTP."""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.prices import Prices
from devui.store.rows import UsageSum
from devui.web.api.debug import answer, number_in
from devui.web.views.lookup import session_of


async def show(request: Request) -> Response:
    """The sums for each agent and model; with `?until=NUMBER` up to that event."""
    found, session = await session_of(request)
    prices, until = found.prices, number_in(request, "until")
    sums = await found.journal.totals.usage(session.key, limits=prices.limits, until=until)
    spent = prices.spent(sums)
    told = {
        "cost": spent.cost,
        "unpriced": spent.unpriced,
        "prices": prices.date,
        "sums": [_sum(each, prices) for each in sums],
    }
    return answer(told)


def _sum(each: UsageSum, prices: Prices) -> dict[str, Any]:
    """Prompts that are long enough to cost more are a sum of their own."""
    cost = prices.spent([each]).cost
    return {"agent": each.author, "answers": each.answers, **asdict(each.usage), "cost": cost}
