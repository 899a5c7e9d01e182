"""What a session has used: its figures in the top bar, and the sums for each agent and model."""

from devui.debugger.prices import Prices
from devui.store.rows import EventRow, SessionRow, UsageSum
from devui.web.parts import every as parts
from devui.web.services import Services
from devui.web.text.figures import compact, dollars, held_for, money, plural, seconds
from devui.web.text.formats import grouped
from devui.web.text.visible import visible


async def spending(
    found: Services, session: SessionRow, *, until: int | None = None
) -> parts.Spending:
    """The sums of the session, or of its events up to one, for each agent and each model asked."""
    prices = found.prices
    sums = await found.journal.totals.usage(session.key, limits=prices.limits, until=until)
    spent = prices.spent(sums)
    places = dict.fromkeys((each.author, each.usage.model) for each in sums)
    lines = (_line([s for s in sums if (s.author, s.usage.model) == at], prices) for at in places)
    return parts.Spending(
        lines=tuple(lines),
        cost=money(spent.cost, more=spent.unpriced > 0),
        unpriced=plural(spent.unpriced, "answer") if spent.unpriced else "",
        date=prices.date,
    )


async def totals(found: Services, session: SessionRow, spent: parts.Spending) -> parts.Totals:
    """The figures of the whole session; of runs that go on, the time is not in it."""
    worked = await found.journal.totals.seconds(session.key)
    return _totals(session.events, session.tokens or None, spent, worked)


async def totals_at(found: Services, at: EventRow, spent: parts.Spending) -> parts.Totals:
    """The figures as of an event; the time of its run up to it is in them."""
    tokens = await found.journal.totals.tokens(at.session, at.number)
    return _totals(at.number, tokens, spent, await found.journal.totals.seconds_at(at))


def _totals(
    events: int, tokens: int | None, spent: parts.Spending, time: tuple[float | None, float]
) -> parts.Totals:
    worked, held = time
    return parts.Totals(
        events=compact(events),
        tokens=compact(tokens),
        cost=spent.cost,
        seconds=seconds(worked),
        held=held_for(held),
    )


def _line(sums: list[UsageSum], prices: Prices) -> parts.SpendingLine:
    """One agent's use of one model; prompts beyond a limit are summed apart, and put together."""
    used = [each.usage for each in sums]
    cached, prompt = sum(each.cached for each in used), sum(each.prompt for each in used)
    return parts.SpendingLine(
        agent=visible(sums[0].author),
        model=visible(used[0].model or "unnamed"),
        answers=grouped(sum(each.answers for each in sums)),
        input=grouped(prompt - cached),
        cached=grouped(cached),
        output=grouped(sum(each.output - each.thoughts for each in used)),
        thinking=grouped(sum(each.thoughts for each in used)),
        cost=dollars(prices.spent(sums).cost),
    )
