"""Lists of an app's sessions, compared with sorting and filtering in Python."""

import random
from dataclasses import replace
from itertools import product
from pathlib import Path

from devui.debugger.events.prices import Prices
from devui.store.journal import Journal
from devui.store.rows import RunStatus, SessionRow
from devui.store.session_lists import CHOICES, SORTS, Listing, LiveRunFacts
from devui.store.summaries import Usage
from tests.store.kit import new_event

PRICES = Prices.load(Path("nowhere"))
MODELS = ("gemini-2.5-pro", "gemini-2.5-flash", "nobody-knows-its-price")
RANKS = ("waiting", "held", "running", "failed", "interrupted", "stopped", "done", "idle")


async def fill(journal: Journal, count: int) -> dict[int, str]:
    """Create sessions of all kinds; return their statuses by key."""
    draw, statuses = random.Random(8), {}
    for number in range(count):
        title = draw.choice([None, "Rome", "rome 100%", "London"])
        key = (await journal.sessions.create("travel", "u", f"s_{number}", {}, title=title)).key
        statuses[key] = draw.choice(["idle", "running", "held", "waiting", "done", "failed"])
        if statuses[key] == "idle":
            continue
        await journal.runs.start(f"r{number}", key)
        for event in range(draw.randrange(4)):
            usage = Usage(draw.choice(MODELS), draw.choice([90, 200_001, 300_000]), 0, 50, 0)
            new = replace(new_event(f"e{number}-{event}"), usage=usage)
            await journal.events.append(key, new, f"r{number}")
        if statuses[key] not in {"running", "held"}:
            end_status: RunStatus = "failed" if statuses[key] == "failed" else "done"
            await journal.runs.change(f"r{number}", end_status)
        if draw.random() < 0.3:
            await journal.notes.put(key, 0, text="", starred=True, actor="u")
    return statuses


async def test_pages_agree_with_sorting_and_filtering_all_sessions(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path) as journal:
        statuses = await fill(journal, 40)
        await journal.sessions.create("other", "u", "s_1", {}, title="Rome")
        lists, rows = journal.session_lists, await journal.sessions.list("travel")
        starred = {row.key for row in await journal.sessions.starred("travel")}
        usage = await lists.usage([row.key for row in rows], PRICES.limits)
        costs = {key: PRICES.total([*sums]).cost for key, sums in usage.items()}
        rounded = {key: round(cost or 0, 9) for key, cost in costs.items()}
        facts = LiveRunFacts(
            [key for key, status in statuses.items() if status == "held"],
            [key for key, status in statuses.items() if status == "waiting"],
            PRICES.rates(await lists.models("travel")),
        )

        def expected(listing: Listing) -> list[int]:
            def value(row: SessionRow) -> tuple[bool, object]:
                cost = costs[row.key]
                values = {
                    "updated": (row.updated, row.seq),
                    "title": (row.title or f"session {row.key:020}").lower(),
                    "events": row.events,
                    "cost": cost or 0,
                    "status": RANKS.index(statuses[row.key]),
                }
                missing = listing.sort == "cost" and cost is None
                return missing != listing.descending, values[listing.sort]

            matches = [
                row
                for row in sorted(rows, key=lambda row: -row.seq)
                if (
                    listing.text.lower() in f"{row.title or ''}\n{row.id}".lower()
                    or listing.text == str(row.key)
                )
                and listing.choice in {None, statuses[row.key], row.key in starred and "starred"}
            ]
            return [row.key for row in sorted(matches, key=value, reverse=listing.descending)]

        texts = ("", "rome", "100%", "s_1", "_", "7", "nothing")
        for sort, down, choice, text in product(SORTS, (True, False), (None, *CHOICES), texts):
            listing = Listing("travel", sort, down, choice, text)
            keys = [
                row.key
                for offset in (0, 15, 30)
                for row in await lists.page(listing, facts, limit=15, offset=offset)
            ]
            expected_keys = expected(listing)
            assert await lists.count(listing, facts) == len(expected_keys), listing
            if sort == "cost":  # sums added in another order may differ in the last digit
                assert sorted(keys) == sorted(expected_keys), listing
                keys, expected_keys = (
                    [rounded[key] for key in each] for each in (keys, expected_keys)
                )
            assert keys == expected_keys, listing
