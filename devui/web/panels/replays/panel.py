"""Replays on the session page (decisions/0012)."""

import json
from dataclasses import replace
from typing import Any, Final, Literal

from devui.debugger.events.preview import one_line
from devui.debugger.recovery.fork_maker import ForkMaker
from devui.debugger.replays.replays import Replays
from devui.store.rows import SessionRow
from devui.web.links import (
    SideNames,
    compare_url,
    moment_url,
    replays_url,
    session_url,
    test_url,
)
from devui.web.panels.apps.lists import session_name
from devui.web.panels.jobs.panel import job_list
from devui.web.panels.replays.parts import Replay, ReplayField, ReplayForm, ReplayRun
from devui.web.panels.request.prompt_diff import around
from devui.web.services import Services
from devui.web.text.actors import by
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clipped, plural
from devui.web.text.worddiff import word_diff


def replays(services: Services) -> Replays:
    """Return the replays of a server, which makes them in forks."""
    return Replays(services.journal, services.runs, ForkMaker(services.journal, services.bus))


_OFFERED: Final = 30
"""Maximum number of runs that the form offers."""
_TEXT: Final = 40
"""Maximum characters of the message that a run answers."""
_NO_CALLS: Final = "no live calls"
_LIVE_TOOLS: Final = "recorded models, live tools"


async def replay(services: Services, session: SessionRow) -> Replay:
    """Return what the newest run replays; an empty part for any other run."""
    run = await services.journal.runs.newest(session.key)
    report = await replays(services).as_json(run.id) if run else None
    if run is None or report is None:
        return Replay()
    source = await services.journal.sessions.get(report["sourceSession"] or 0)
    calls = _LIVE_TOOLS if report["liveTools"] else _NO_CALLS
    calls = ", ".join(filter(None, (calls, by(run.actor))))
    extent = await replays(services).extent(report["sourceSession"], report["source"])
    begin = Replay(
        title="Replay",
        text=calls,
        source_href=session_url(source.key, event=extent[0]) if source else "",
        source=f"#{extent[0]} to #{extent[1]} of {session_name(source)}" if source else "",
        action=replays_url(source.key) if source else "",
        run=report["source"],
        live_tools=report["liveTools"],
    )
    verdict = report["verdict"]
    if verdict is None:
        if run.ended is not None:
            return replace(begin, title="Replay was interrupted", tone="other")
        return await _under_way(services, session, begin, extent)
    result = _with_verdict(begin, verdict, calls, source, extent[0])
    if verdict["divergence"] is None or run.status == "failed" or source is None:
        return result
    # On another engine, a replay continues after a difference, with the recorded answers.
    return replace(
        result,
        title="Replay differs",
        text=f"{visible(verdict['divergence']['message'])} It continued with the recorded answers.",
        event_href=compare_url(await _sides(services, source, report["source"], session, run.id)),
        event="Compare the two runs",
        other_engine=True,
    )


async def _under_way(
    services: Services, session: SessionRow, begin: Replay, extent: tuple[int, int]
) -> Replay:
    """Return the replay's progress, with a way to stop it."""
    live, row = services.runs.live(session.key), await services.journal.sessions.get(session.key)
    if live is None or row is None or not extent[0]:
        return begin
    total = extent[1] - extent[0] + 1
    count = min(max(row.events - extent[0] + 1, 0), total)  # the fork has all events before the run
    return replace(
        begin,
        text=f"{count:,} of {plural(total, 'event')}, {begin.text}",
        committed=count,
        recorded=total,
    )


async def _sides(
    services: Services, source: SessionRow, source_run: str, session: SessionRow, run: str
) -> SideNames:
    """Return the names of a recorded run and its replay on the compare page."""
    names = []
    for where, run_id in ((source, source_run), (session, run)):
        runs = [each["run"] for each in await replays(services).runs(where)]
        names.append(f"{where.key}@{runs.index(run_id) + 1}")
    return SideNames(*names)


def _with_verdict(
    begin: Replay,
    verdict: dict[str, Any],
    calls: str,
    source: SessionRow | None,
    first: int,
) -> Replay:
    count = f"{verdict['events']} of {plural(verdict['recorded'], 'event')} matched"
    answers = plural(verdict["calls"], "recorded answer")
    notes = tuple(visible(note) for note in verdict["notes"])
    divergence = verdict["divergence"]
    if divergence is None:
        title, tone = _heading(verdict)
        aside = " except for tool results" if verdict["resultsDiffer"] else ""
        text = f"{count}{aside}, {answers}, {calls}"
        return replace(begin, title=title, tone=tone, text=text, notes=notes)
    number = first + divergence["place"]
    is_recorded = divergence["place"] < verdict["recorded"]
    return replace(
        begin,
        title="Replay diverged",
        tone="other",
        text=f"{visible(divergence['message'])} {count[0].upper()}{count[1:]} before that."
        " Resume continues from here with live calls.",
        fields=tuple(_field(each) for each in divergence["differences"]),
        expected="" if divergence["differences"] else _json(divergence["expected"]),
        actual="" if divergence["differences"] else _json(divergence["actual"]),
        nearest=_json(divergence["nearest"]),
        notes=notes,
        event_href=session_url(source.key, event=number) if source and is_recorded else "",
        event=f"recorded #{number}",
    )


def _heading(verdict: dict[str, Any]) -> tuple[str, Literal["same", "other"]]:
    if verdict["identical"]:
        return "Replay is identical", "same"
    if verdict["resultsDiffer"]:
        return "Replay had different results", "other"
    return "Replay was stopped", "same"


def _field(difference: dict[str, Any]) -> ReplayField:
    """Return a field with its difference; of long texts, only the parts around it."""
    pieces = [*around(word_diff(_json(difference["expected"]), _json(difference["actual"])))]
    return ReplayField(
        visible(difference["field"] or "value"),
        tuple(piece for piece in pieces if piece[0] != "added"),
        tuple(piece for piece in pieces if piece[0] != "removed"),
    )


async def replay_form(services: Services, session: SessionRow, run: str) -> ReplayForm | None:
    """Return the form that starts a replay, of `run` by default; None if there is no run that
    can be executed again."""
    runs = [
        each
        for each in await replays(services).runs(session)
        if each["first"] is not None and each["ended"] is not None and not each["rewind"]
    ]
    if not runs:
        return None
    default = next((each for each in runs if each["run"] == run), runs[-1])
    runs = [each for n, each in enumerate(runs[::-1]) if n < _OFFERED or each is default]
    firsts = await services.journal.events.rows(session.key, sorted(each["first"] for each in runs))
    texts = {row.number: row.summary.text for row in firsts}
    return ReplayForm(
        action=replays_url(session.key),
        runs=tuple(ReplayRun(each["run"], _label(each, texts[each["first"]])) for each in runs),
        default=default["run"],
        play_href=moment_url(session.key, default["first"], tab="run"),
        test_href=test_url(session.key),
        jobs=job_list(services.jobs, session.key),
    )


def _label(run: dict[str, Any], text: str) -> str:
    suffix = ", a replay" if run["replay"] else ""
    extent = f"#{run['first']} to #{run['last']}, {run['status']}{suffix}"
    return f"{one_line(visible(text), _TEXT)} ({extent})" if text else extent


def _json(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return visible(clipped(value))
    return visible(clipped(json.dumps(value, indent=1, ensure_ascii=False)))
