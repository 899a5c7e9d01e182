"""The settings that a run was started with: kept with what it was asked, and taken over by what
goes on with it."""

import json
from collections.abc import Mapping
from typing import Any, Final

from devui.store.journal import Journal
from devui.store.rows import RunRow
from devui.wire.settings import RunSettings

NAMES: Final[Mapping[str, str]] = {
    "model": "model",
    "temperature": "temperature",
    "top_p": "topP",
    "max_output_tokens": "maxOutputTokens",
    "instruction": "instruction",
}
"""The members of `RunSettings`, and their names in JSON."""


def settings_json(settings: RunSettings | None) -> dict[str, Any] | None:
    """What is set, as JSON; None if that is nothing."""
    values = {key: getattr(settings, name, None) for name, key in NAMES.items()}
    return {key: value for key, value in values.items() if value is not None} or None


def settings_in(value: Mapping[str, Any] | None) -> RunSettings:
    """The same the other way."""
    members = value or {}
    return RunSettings(**{name: members.get(key) for name, key in NAMES.items()})


async def settings_of_run(journal: Journal, run: str) -> RunSettings:
    """What a run was started with."""
    return settings_in((await _request_of(journal, run)).get("settings"))


async def last_settings(
    journal: Journal, session: int, invocation: str | None = None
) -> RunSettings:
    """Those of the session's newest run, or the newest run of an invocation; rewinds don't count.

    A fork that has no such run yet goes on with its parent's.
    """
    for row in await _runs(journal, session, invocation):
        request = await _request_of(journal, row.id)
        if not request.get("rewind"):
            return settings_in(request.get("settings"))
    fork = await journal.forks.get(session)
    if fork is None:
        return RunSettings()
    return await last_settings(journal, fork.parent, invocation or fork.invocation)


async def _runs(journal: Journal, session: int, invocation: str | None) -> list[RunRow]:
    """The session's runs, the newest first; of those that may count only."""
    if invocation is None:
        newest = await journal.runs.newest(session)
        if newest is None:
            return []
        if not (await _request_of(journal, newest.id)).get("rewind"):
            return [newest]
    rows = await journal.runs.list(session)
    return [row for row in rows if invocation is None or row.invocation_id == invocation]


async def _request_of(journal: Journal, run: str) -> dict[str, Any]:
    """What started a run; {} for a run from before requests were stored."""
    request: dict[str, Any] = json.loads(await journal.replays.request_of(run) or "{}")
    return request
