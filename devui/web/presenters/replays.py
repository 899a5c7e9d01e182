"""Replays as the session page shows them (decisions/0012)."""

import json
from dataclasses import replace
from typing import Any, Final, Literal

from devui.store.rows import SessionRow
from devui.web.links import moment_url, replays_url, session_url, test_url
from devui.web.parts import every as parts
from devui.web.presenters.lists import session_name
from devui.web.presenters.promptdiff import around
from devui.web.replaying import replays
from devui.web.services import Services
from devui.web.text.bounds import clipped
from devui.web.text.figures import plural
from devui.web.text.visible import visible
from devui.web.text.worddiff import word_diff

_OFFERED: Final = 30
"""How many runs the form offers."""
_NO_CALLS: Final = "no live calls"
_LIVE_TOOLS: Final = "recorded models, live tools"


async def replay(found: Services, session: SessionRow) -> parts.Replay:
    """What the newest run replays; empty for any other run."""
    run = await found.journal.runs.newest(session.key)
    told = await replays(found).told(run.id) if run else None
    if run is None or told is None:
        return parts.Replay()
    source = await found.journal.sessions.get(told["sourceSession"] or 0)
    calls = _LIVE_TOOLS if told["liveTools"] else _NO_CALLS
    extent = await replays(found).extent(told["sourceSession"], told["source"])
    begin = parts.Replay(
        title="Replay",
        text=calls,
        source_href=session_url(source.key, event=extent[0]) if source else "",
        source=f"#{extent[0]} to #{extent[1]} of {session_name(source)}" if source else "",
        action=replays_url(source.key) if source else "",
        run=told["source"],
        live_tools=told["liveTools"],
    )
    verdict = told["verdict"]
    if verdict is None:
        if run.ended is not None:
            return _with(begin, title="Replay broke off", tone="other")
        return begin
    return _judged(begin, verdict, calls, source, extent[0])


def _judged(
    begin: parts.Replay,
    verdict: dict[str, Any],
    calls: str,
    source: SessionRow | None,
    first: int,
) -> parts.Replay:
    count = f"{verdict['events']} of {plural(verdict['recorded'], 'event')} as recorded"
    answers = plural(verdict["calls"], "recorded answer")
    notes = tuple(visible(note) for note in verdict["notes"])
    found = verdict["divergence"]
    if found is None:
        title, tone = _agreed(verdict)
        aside = " but for results of tools" if verdict.get("strayed") else ""
        text = f"{count}{aside}, {answers}, {calls}"
        return _with(begin, title=title, tone=tone, text=text, notes=notes)
    number = first + found["place"]
    recorded = found["place"] < verdict["recorded"]
    return _with(
        begin,
        title="Replay diverged",
        tone="other",
        text=f"{visible(found['message'])} {count[0].upper()}{count[1:]} before that."
        " Resume goes on from here with live calls.",
        fields=tuple(_field(each) for each in found["differences"]),
        expected="" if found["differences"] else _json(found["expected"]),
        actual="" if found["differences"] else _json(found["actual"]),
        nearest=_json(found["nearest"]),
        notes=notes,
        event_href=session_url(source.key, event=number) if source and recorded else "",
        event=f"#{number} as recorded",
    )


def _agreed(verdict: dict[str, Any]) -> tuple[str, Literal["same", "other"]]:
    if verdict["identical"]:
        return "Replay is identical", "same"
    if verdict.get("strayed"):
        return "Replay had other results", "other"
    return "Replay was stopped", "same"


def _field(told: dict[str, Any]) -> parts.ReplayField:
    """A field with what differs in it; of long texts a little around that."""
    pieces = [*around(word_diff(_json(told["expected"]), _json(told["actual"])))]
    return parts.ReplayField(
        visible(told["field"] or "value"),
        tuple(piece for piece in pieces if piece[0] != "added"),
        tuple(piece for piece in pieces if piece[0] != "removed"),
    )


async def replay_form(found: Services, session: SessionRow) -> parts.ReplayForm | None:
    """The form that begins a replay; None without a run that could be executed again."""
    runs = [
        each
        for each in await replays(found).runs(session)
        if each["first"] is not None and each["ended"] is not None and not each["rewind"]
    ]
    if not runs:
        return None
    runs = runs[::-1][:_OFFERED]
    return parts.ReplayForm(
        action=replays_url(session.key),
        runs=tuple(parts.ReplayRun(each["run"], _label(each)) for each in runs),
        watch_href=moment_url(session.key, runs[0]["first"], tab="run"),
        test_href=test_url(session.key),
    )


def _label(run: dict[str, Any]) -> str:
    replayed = ", a replay" if run["replay"] else ""
    return f"#{run['first']} to #{run['last']}, {run['status']}{replayed}"


def _with(begin: parts.Replay, **changes: Any) -> parts.Replay:
    return replace(begin, **changes)


def _json(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return visible(clipped(value))
    return visible(clipped(json.dumps(value, indent=1, ensure_ascii=False)))
