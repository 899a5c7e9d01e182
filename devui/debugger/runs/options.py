"""The options that a run was started with, including its settings. They are stored with its request
and taken over by runs that repeat or continue it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """Return the settings that are set, as JSON; None if there are none."""
    values = {key: getattr(settings, name, None) for name, key in NAMES.items()}
    return {key: value for key, value in values.items() if value is not None} or None


def settings_in(value: Mapping[str, Any] | None) -> RunSettings:
    """Parse what `settings_json` returned."""
    members = value or {}
    return RunSettings(**{name: members.get(key) for name, key in NAMES.items()})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run was started, apart from its message.

    A run that repeats it or continues its invocation has the same options, except if it is started
    through ADK's REST API, whose requests state their own options, as with google-adk. The defaults
    are those of runs from before requests were stored.
    """

    streaming: bool = True
    settings: RunSettings = field(default_factory=RunSettings)
    custom_metadata: dict[str, Any] | None = None
    service_tier: str | None = None
    save_files: bool = False


def _options_in(request: Mapping[str, Any]) -> RunOptions:
    return RunOptions(
        streaming=request.get("streaming", True),
        settings=settings_in(request.get("settings")),
        custom_metadata=request.get("customMetadata"),
        service_tier=request.get("serviceTier"),
        save_files=request.get("saveFiles", False),
    )


async def options_of_run(journal: Journal, run: str) -> RunOptions:
    """Return the options that a run was started with."""
    return _options_in(await _request_of(journal, run))


async def settings_of_run(journal: Journal, run: str) -> RunSettings:
    """Return the settings that a run was started with."""
    return (await options_of_run(journal, run)).settings


async def last_settings(
    journal: Journal, session: int, invocation: str | None = None
) -> RunSettings:
    """Return the settings of `last_options`."""
    return (await last_options(journal, session, invocation)).settings


async def last_options(journal: Journal, session: int, invocation: str | None = None) -> RunOptions:
    """Return the options of the session's newest run, or of an invocation's newest run.

    Rewinds don't count. A fork without such a run takes those of its parent.
    """
    for row in await _runs(journal, session, invocation):
        request = await _request_of(journal, row.id)
        if not request.get("rewind"):
            return _options_in(request)
    fork = await journal.forks.get(session)
    if fork is None:
        return RunOptions()
    return await last_options(journal, fork.parent, invocation or fork.invocation)


async def _runs(journal: Journal, session: int, invocation: str | None) -> list[RunRow]:
    """Return the session's runs that may count, newest first."""
    if invocation is None:
        newest = await journal.runs.newest(session)
        if newest is None:
            return []
        if not (await _request_of(journal, newest.id)).get("rewind"):
            return [newest]
    rows = await journal.runs.list(session)
    return [row for row in rows if invocation is None or row.invocation_id == invocation]


async def _request_of(journal: Journal, run: str) -> dict[str, Any]:
    """Return the request that started a run; {} for a run from before requests were stored."""
    request: dict[str, Any] = json.loads(await journal.replays.request_of(run) or "{}")
    return request
