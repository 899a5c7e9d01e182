"""Tokens and cost of a session, for the top bar and as JSON."""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.events.prices import Prices
from devui.store.rows import Durations, EventRow, SessionRow, UsageSum
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, operation
from devui.web.panels.runs.api import number_in
from devui.web.panels.session.parts import Totals
from devui.web.panels.usage.parts import Spending, SpendingLine
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import compact, dollars, group_digits, held_for, money, plural, seconds


class UsageSumJson(TypedDict):
    """The tokens of one agent and model. Long prompts at a higher price are summed separately."""

    agent: str
    answers: int
    model: str
    prompt: int
    """Tokens sent, including cached ones."""
    cached: int
    output: int
    """Tokens returned, including thinking."""
    thoughts: int
    cost: float | None
    """US dollars; null if unknown."""


class UsageJson(TypedDict):
    """Token counts and their cost."""

    cost: float | None
    """US dollars, as far as prices are known; null if none are."""
    unpriced: int
    """Answers whose cost is unknown and not in the sum."""
    prices: str
    """The date of the price table."""
    sums: list[UsageSumJson]


@operation(
    UsageJson,
    query={"until": Query(int, "The number of the last event to count")},
    refusals=(400,),
)
async def show(request: Request) -> Response:
    """Get token usage and cost.

    Costs are in US dollars, null if unknown ([prices](debugging.md#tokens-and-cost)).
    """
    services, session = await session_of(request)
    prices, until = services.prices, number_in(request, "until")
    sums = await services.journal.totals.usage(session.key, limits=prices.limits, until=until)
    total = prices.total(sums)
    members = {
        "cost": total.cost,
        "unpriced": total.unpriced,
        "prices": prices.date,
        "sums": [_sum(each, prices) for each in sums],
    }
    return answer(members)


def _sum(each: UsageSum, prices: Prices) -> dict[str, Any]:
    """Return a sum as JSON; long prompts at a higher price have a sum of their own."""
    cost = prices.total([each]).cost
    return {"agent": each.author, "answers": each.answers, **asdict(each.usage), "cost": cost}


async def spending(
    services: Services, session: SessionRow, *, until: int | None = None
) -> Spending:
    """Return the session's sums, up to an event if given, for each agent and model."""
    prices = services.prices
    sums = await services.journal.totals.usage(session.key, limits=prices.limits, until=until)
    total = prices.total(sums)
    places = dict.fromkeys((each.author, each.usage.model) for each in sums)
    lines = (_line([s for s in sums if (s.author, s.usage.model) == at], prices) for at in places)
    return Spending(
        lines=tuple(lines),
        cost=money(total.cost, more=total.unpriced > 0),
        unpriced=plural(total.unpriced, "answer") if total.unpriced else "",
        date=prices.date,
    )


async def totals(services: Services, session: SessionRow, costs: Spending) -> Totals:
    """Return the figures of the whole session, without the time of runs in progress."""
    durations = await services.journal.totals.seconds(session.key)
    return _totals(session.events, session.tokens or None, costs, durations)


async def totals_at(services: Services, at: EventRow, costs: Spending) -> Totals:
    """Return the figures as of an event, including the time of its run so far."""
    tokens = await services.journal.totals.tokens(at.session, at.number)
    return _totals(at.number, tokens, costs, await services.journal.totals.seconds_at(at))


def _totals(events: int, tokens: int | None, costs: Spending, time: Durations) -> Totals:
    return Totals(
        events=compact(events),
        tokens=compact(tokens),
        cost=costs.cost,
        seconds=seconds(time.seconds),
        held_note=held_for(time.held),
    )


def _line(sums: list[UsageSum], prices: Prices) -> SpendingLine:
    """Return one agent's use of one model, adding up the sums at different prices."""
    usages = [each.usage for each in sums]
    cached, prompt = sum(each.cached for each in usages), sum(each.prompt for each in usages)
    return SpendingLine(
        agent=visible(sums[0].author),
        model=visible(usages[0].model or "unnamed"),
        answers=group_digits(sum(each.answers for each in sums)),
        input=group_digits(prompt - cached),
        cached=group_digits(cached),
        output=group_digits(sum(each.output - each.thoughts for each in usages)),
        thinking=group_digits(sum(each.thoughts for each in usages)),
        cost=dollars(prices.total(sums).cost),
    )
