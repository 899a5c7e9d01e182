"""An app's sessions as a list: filtered, sorted and paged."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from devui.store.rows import RunRow, SessionRow, UsageSum
from devui.store.sqlite.database import Database
from devui.store.summaries import LONG_RUNNING, Usage
from devui.store.values import bounded

Sort: TypeAlias = Literal["updated", "title", "events", "cost", "status"]
Choice: TypeAlias = Literal[
    "done", "waiting", "held", "failed", "stopped", "interrupted", "running", "starred"
]
SORTS: Final[tuple[Sort, ...]] = get_args(Sort)
CHOICES: Final[tuple[Choice, ...]] = get_args(Choice)


class Rate(NamedTuple):
    """Dollars per million tokens, for prompts of more than `low` and up to `high` tokens."""

    model: str
    low: int
    high: int
    input: float
    cached: float | None
    output: float


@dataclass(frozen=True, slots=True)
class Listing:
    """A selection of an app's sessions, and their order."""

    app: str
    sort: Sort = "updated"
    descending: bool = True
    choice: Choice | None = None
    text: str = ""
    """A part of the title or id, or the whole key; "" for all sessions."""
    among: Collection[int] | None = None
    """Only the sessions with these keys; None for all."""

    @property
    def needs_status(self) -> bool:
        """Whether sessions are sorted or filtered by the status of their newest run."""
        return self.sort == "status" or self.choice not in {None, "starred"}


@dataclass(frozen=True, slots=True)
class LiveRunFacts:
    """What a list needs beyond the journal: which runs are held or waiting, and prices."""

    held: Collection[int] = ()
    """The keys of the sessions whose run is held."""
    waiting: Collection[int] = ()
    """The keys of the sessions that are waiting for a person's answer."""
    rates: Sequence[Rate] = ()


_STATUS: Final = """
    CASE
        WHEN key IN (SELECT value FROM json_each(?4)) THEN 'held'
        WHEN key IN (SELECT value FROM json_each(?5)) THEN 'waiting'
        ELSE coalesce((
            SELECT CASE WHEN closed THEN 'idle' WHEN status = 'stopping' THEN 'running'
                   WHEN status = 'done' AND 'error' = (
                       SELECT kind FROM events
                       WHERE session = sessions.key AND invocation_id = runs.invocation_id
                             AND kind <> 'checkpoint'
                       ORDER BY seq DESC LIMIT 1
                   ) THEN 'failed'
                   ELSE status END
            FROM runs WHERE session = sessions.key ORDER BY seq DESC LIMIT 1
        ), 'idle')
    END
"""
_WHERE: Final = f"""
    WHERE app = ?1
      AND (?2 = '' OR title LIKE ?2 ESCAPE '!' OR id LIKE ?2 ESCAPE '!' OR ?2 = '%' || key || '%')
      AND CASE ?3
          WHEN '' THEN TRUE
          WHEN 'starred' THEN key IN (SELECT session FROM notes WHERE number = 0 AND starred = 1)
          ELSE ?3 = {_STATUS}
      END
      AND (?6 IS NULL OR key IN (SELECT value FROM json_each(?6)))
"""  # noqa: S608  (of constants, as all below)
_COUNT: Final = f"SELECT count(*) FROM sessions {_WHERE}"  # noqa: S608
_PAGE: Final = f"SELECT key FROM sessions {_WHERE}"  # noqa: S608
_TITLE: Final = "coalesce(title, printf('session %020d', key)) COLLATE NOCASE"
_RANK: Final = f"""
    CASE {_STATUS}
        WHEN 'waiting' THEN 0 WHEN 'held' THEN 1 WHEN 'running' THEN 2 WHEN 'failed' THEN 3
        WHEN 'interrupted' THEN 4 WHEN 'stopped' THEN 5 WHEN 'done' THEN 6 ELSE 7
    END
"""
_PAGE_BY_COST: Final = f"""
    WITH rates AS MATERIALIZED (
        SELECT json_extract(value, '$[0]') AS model, json_extract(value, '$[1]') AS low,
               json_extract(value, '$[2]') AS high, json_extract(value, '$[3]') AS input,
               json_extract(value, '$[4]') AS cached, json_extract(value, '$[5]') AS output
        FROM json_each(?9)
    ),
    sums AS (
        SELECT usage.session,
               iif(sum(usage.cached) AND rates.cached IS NULL, NULL,
                   (sum(usage.prompt) - sum(usage.cached)) * rates.input
                   + sum(usage.cached) * coalesce(rates.cached, 0)
                   + sum(usage.output) * rates.output) AS cost
        FROM sessions
        JOIN usage ON usage.session = sessions.key
        JOIN rates ON rates.model = usage.model
             AND usage.prompt > rates.low AND usage.prompt <= rates.high
        WHERE sessions.app = ?1
        GROUP BY usage.session, usage.author, usage.model, rates.low
    ),
    costs AS MATERIALIZED (SELECT session, sum(cost) AS cost FROM sums GROUP BY session)
    SELECT key FROM sessions LEFT JOIN costs ON costs.session = sessions.key {_WHERE}
"""  # noqa: S608
_LIMIT: Final = "seq DESC LIMIT ?7 OFFSET ?8"
_PAGES: Final[Mapping[tuple[Sort, bool], str]] = {
    ("updated", True): f"{_PAGE} ORDER BY updated DESC, {_LIMIT}",
    ("updated", False): f"{_PAGE} ORDER BY updated, seq LIMIT ?7 OFFSET ?8",
    ("title", True): f"{_PAGE} ORDER BY {_TITLE} DESC, {_LIMIT}",
    ("title", False): f"{_PAGE} ORDER BY {_TITLE}, {_LIMIT}",
    ("events", True): f"{_PAGE} ORDER BY events DESC, {_LIMIT}",
    ("events", False): f"{_PAGE} ORDER BY events, {_LIMIT}",
    ("status", True): f"{_PAGE} ORDER BY {_RANK} DESC, {_LIMIT}",
    ("status", False): f"{_PAGE} ORDER BY {_RANK}, {_LIMIT}",
    ("cost", True): f"{_PAGE_BY_COST} ORDER BY cost IS NULL, cost DESC, {_LIMIT}",
    ("cost", False): f"{_PAGE_BY_COST} ORDER BY cost IS NULL, cost, {_LIMIT}",
}
"""The query for each order. Sessions of unknown cost come last in either direction."""
_ROWS: Final = "SELECT * FROM session_rows WHERE key IN (SELECT value FROM json_each(?))"
_OF_APP: Final = """
    SELECT * FROM session_rows WHERE app = ? AND key IN (SELECT value FROM json_each(?))
    ORDER BY updated DESC, seq DESC
"""
_MODELS: Final = """
    SELECT DISTINCT model FROM sessions JOIN usage ON usage.session = sessions.key WHERE app = ?
"""
_USAGE: Final = """
    SELECT session, author, (SELECT count(*) FROM json_each(?2) WHERE value < prompt) AS over,
           count(*), model, sum(prompt), sum(cached), sum(output), sum(thoughts)
    FROM usage WHERE session IN (SELECT value FROM json_each(?1))
    GROUP BY session, author, model, over
"""
_MAY_WAIT: Final = """
    SELECT run_rows.* FROM sessions JOIN run_rows
        ON run_rows.id = (SELECT id FROM runs WHERE session = key ORDER BY runs.seq DESC LIMIT 1)
    WHERE app = ?1 AND run_rows.ended IS NOT NULL AND NOT run_rows.closed
      AND EXISTS (
          SELECT 1 FROM (SELECT summary FROM events WHERE session = key ORDER BY seq DESC LIMIT 500)
          WHERE instr(summary, ?2)
      )
"""


class SessionLists:
    """Reads the sessions of an app in pages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, listing: Listing, facts: LiveRunFacts) -> int:
        """Return the number of sessions in the listing."""
        [(count,)] = await self._database.fetch(_COUNT, *_choice(listing, facts))
        return int(count)

    async def page(
        self, listing: Listing, facts: LiveRunFacts, *, limit: int, offset: int = 0
    ) -> Sequence[SessionRow]:
        """Return one page of the listing."""
        values = (*_choice(listing, facts), limit, offset)
        if listing.sort == "cost":
            values = (*values, json.dumps([list(rate) for rate in facts.rates]))
        statement = _PAGES[listing.sort, listing.descending]
        keys = [key for (key,) in await self._database.fetch(statement, *values)]
        rows = {row[0]: SessionRow(*row) for row in await self._database.fetch(_ROWS, str(keys))}
        return [rows[key] for key in keys if key in rows]

    async def of_app(self, app: str, keys: Collection[int]) -> Sequence[SessionRow]:
        """Return the app's sessions among these keys, most recently active first."""
        keys_json = str([bounded(key) for key in keys])
        return [SessionRow(*row) for row in await self._database.fetch(_OF_APP, app, keys_json)]

    async def may_wait(self, app: str) -> Sequence[RunRow]:
        """Return the ended, undismissed last run of each session that has asked a person something.

        The question may have been answered since. Only the session's last 500 events are searched.
        """
        return [RunRow(*row) for row in await self._database.fetch(_MAY_WAIT, app, LONG_RUNNING)]

    async def models(self, app: str) -> Sequence[str]:
        """Return the names of the models that the app's sessions have used."""
        return [model for (model,) in await self._database.fetch(_MODELS, app)]

    async def usage(
        self, keys: Sequence[int], limits: Sequence[int]
    ) -> Mapping[int, Sequence[UsageSum]]:
        """Return the usage of each session, split up as in `Totals.usage`."""
        sums: dict[int, list[UsageSum]] = {key: [] for key in keys}
        for key, author, over, answers, *usage in await self._database.fetch(
            _USAGE, str([*keys]), str([*limits])
        ):
            sums[key].append(UsageSum(author, over, answers, Usage(*usage)))
        return sums


def _choice(listing: Listing, facts: LiveRunFacts) -> tuple[str | int | None, ...]:
    text = "".join(f"!{each}" if each in "!%_" else each for each in listing.text)
    return (
        listing.app,
        f"%{text}%" if text else "",
        listing.choice or "",
        str([*facts.held]),
        str([*facts.waiting]),
        None if listing.among is None else str([*listing.among]),
    )
