"""The lists on the start page and on an app's page: apps, sessions, unused files, examples."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from devui.debugger.apps.apps import AppSource, LeftOut, contents
from devui.debugger.apps.root_agent import RootAgent
from devui.debugger.workers.import_output import ImportOutput
from devui.debugger.workers.workers import AppStatus
from devui.store.rows import ForkRow, NoteRow, SessionRow
from devui.store.summaries import Damaged
from devui.web.basic_parts import Failure, RunStatus, Tag
from devui.web.links import (
    app_url,
    create_session_url,
    delete_url,
    engine_url,
    reload_url,
    rename_url,
    session_url,
    tagged_url,
)
from devui.web.panels.apps.parts import (
    AppCard,
    AppHead,
    Attach,
    Engine,
    Option,
    OtherFolder,
    OtherFolders,
    SessionItem,
    UnusedFile,
)
from devui.web.panels.apps.parts import AppStatus as CardStatus
from devui.web.panels.runs.failure import agent_failure
from devui.web.panels.runs.status import newest_run
from devui.web.services import Services
from devui.web.text.actors import by
from devui.web.text.deceptive_characters import readable, visible
from devui.web.text.formats import moment, plural
from devui.wire.engines import EngineChoice, EngineInfo
from devui.wire.messages import AppInfo


async def session_items(
    services: Services, rows: Sequence[SessionRow], *, show_app: bool = False
) -> tuple[SessionItem, ...]:
    """Return the items for sessions, in the same order."""
    journal, keys = services.journal, [row.key for row in rows]
    forks, notes = await journal.forks.among(keys), await journal.notes.of_sessions(keys)
    imported_keys, tags = await journal.imports.among(keys), await journal.tags.of_sessions(keys)
    items = []
    for row in rows:
        run = await newest_run(services, row.key)
        items.append(
            session_item(
                row,
                run,
                fork=forks.get(row.key),
                note=notes.get(row.key),
                is_imported=row.key in imported_keys,
                tags=tag_links(tags.get(row.key, ()), None if show_app else row.app),
                show_app=show_app,
            )
        )
    return tuple(items)


_LOOPBACK: Final = "127.0.0.1"
_CARD: Final[dict[str, tuple[CardStatus, str]]] = {
    "ready": ("ready", "ready"),
    "loading": ("starting", "starting"),
    "broken": ("broken", "failed to load"),
    "unused": ("idle", "not started"),
}


def app_card(app: AppStatus, source: AppSource, sessions: int, last_used: float | None) -> AppCard:
    """Return an app's card; until the app is loaded, its `source` says what it is."""
    status, word = _CARD[app.status]
    return AppCard(
        name=app.name,
        href=app_url(app.name),
        description=_description(app, source.about),
        status=status,
        word=word,
        failure=app_failure(app),
        reload_action=reload_url(app.name),
        create_action=create_session_url(app.name),
        sessions=sessions,
        last_used=moment(last_used) if last_used is not None else None,
        facts=tuple(map(visible, _facts(app, source))),
        problem=source.problem if app.status == "unused" else "",
    )


def _facts(app: AppStatus, source: AppSource) -> Iterator[str]:
    agent = _root_agent(app.info) if app.info else source.root_agent
    if agent is not None:
        yield agent.type
        if agent.model:
            yield agent.model
        if agent.tools:
            yield plural(agent.tools, "tool")
        if agent.sub_agents:
            yield plural(agent.sub_agents, "sub-agent")
    if app.info and app.info.engine:
        yield f"runs on {engine_name(app.info.engine)}"


def _root_agent(info: AppInfo) -> RootAgent | None:
    """Return the root agent of a loaded app."""
    if not info.agents:
        return None
    root, *others = info.agents
    return RootAgent(
        type=root.type,
        model=root.model or "",
        tools=len(root.tools),
        sub_agents=sum(each.parent == root.name for each in others),
    )


def app_head(app: AppStatus, about: str, default: EngineChoice) -> AppHead:
    """Return the top of an app's own page; `default` is the engine used if none is chosen."""
    status, word = _CARD[app.status]
    return AppHead(
        name=app.name,
        description=_description(app, about),
        status=status,
        word=word,
        failure=app_failure(app),
        reload_action=reload_url(app.name) if app.reloads else "",
        loads=app.loads,
        engine=engine_of(app, default),
        output=visible(printed_text(app.import_output)),
        attach=attach(app.name, app.debug_port) if app.debug_port else None,
    )


def attach(name: str, port: int) -> Attach:
    """Return how an editor attaches to this port; other editors read VS Code's configuration,
    too."""
    configuration = {
        "name": f"devui: {name}",
        "type": "debugpy",
        "request": "attach",
        "connect": {"host": _LOOPBACK, "port": port},
    }
    return Attach(f"{_LOOPBACK}:{port}", json.dumps(configuration, indent=2))


def engine_of(app: AppStatus, default: EngineChoice) -> Engine:
    """Return the engine that the app runs on, or will once it is loaded."""
    info = app.info.engine if app.info else None
    options = {
        "": f"Server default: {default}",
        "auto": "auto: google-adk, if it's installed and the app imports it",
        "google-adk": "google-adk: the Runner of google-adk",
        "devui": "devui: devui.runtime, also for apps that import google.adk",
    }
    return Engine(
        name=engine_name(info),
        reason=visible(info.reason) if info else "",
        action=engine_url(app.name),
        options=tuple(
            Option(value, label, is_selected=value == (app.choice or ""))
            for value, label in options.items()
        ),
    )


def engine_name(info: EngineInfo | None) -> str:
    """Return `google-adk 2.13.0` or `devui`; "" until the app is loaded."""
    if info is None:
        return ""
    return f"google-adk {visible(info.version)}" if info.name == "google-adk" else info.name


def unused_file(each: LeftOut) -> UnusedFile:
    """Return an unused folder or file, with the reason."""
    return UnusedFile(visible(each.path), visible(each.reason))


_FIRST: Final = 3
_MOST_NAMED: Final = 200


def other_folders(folders: Sequence[Path]) -> OtherFolders | None:
    """Return these folders, which have nothing to do with agents; None without any."""
    if not folders:
        return None
    named = tuple(OtherFolder(visible(each.name), contents(each)) for each in folders[:_MOST_NAMED])
    hidden = len(folders) - len(named)
    return OtherFolders(
        count=plural(len(folders), "other folder"),
        first=named[:_FIRST],
        rest=named[_FIRST:],
        more=f"and {hidden:,} more" if hidden else "",
    )


def printed_text(output: ImportOutput) -> str:
    """Return what an app printed and logged during its import; log records have their level."""
    lines = [
        line.text if line.stream in {"stdout", "stderr"} else f"{line.stream}: {line.text}"
        for line in output.lines
    ]
    if output.left_out:
        lines.append(f"… {plural(output.left_out, 'more line')} not saved")
    return "\n".join(lines)


def _description(app: AppStatus, about: str) -> str:
    return visible((app.info.description if app.info else "") or about)


def app_failure(app: AppStatus) -> Failure | None:
    """Return why the newest version of the app doesn't load; None if it does."""
    if app.error is None:
        return None
    return replace(agent_failure(app.error), environment=visible(app.environment))


def session_name(row: SessionRow) -> str:
    """Return the session's title, or its default name."""
    name = visible(row.title) if row.title else unnamed(row)
    is_damaged = any(isinstance(text, Damaged) for text in (row.app, row.user, row.id, row.title))
    return f"{name} (damaged in the journal)" if is_damaged else name


def session_item(
    row: SessionRow,
    run: RunStatus,
    *,
    fork: ForkRow | None = None,
    note: NoteRow | None = None,
    is_imported: bool = False,
    tags: tuple[Tag, ...] = (),
    show_app: bool = False,
) -> SessionItem:
    """Return a session as a list item, with the same status as on its own page."""
    return SessionItem(
        key=row.key,
        href=session_url(row.key),
        app=row.app,
        title=session_name(row),
        id=visible(row.id),
        user=visible(row.user),
        events=row.events,
        updated=moment(row.updated),
        status=run.status,
        word=run.word,
        errors=run.errors,
        rename_action=rename_url(row.key),
        delete_action=delete_url(row.key),
        show_app=show_app,
        forked=_origin(fork) if fork else "",
        starred=bool(note and note.starred),
        note=visible(note.text) if note else "",
        is_imported=is_imported,
        tags=tags,
    )


def unnamed(row: SessionRow) -> str:
    """Return the default name of a session without a title."""
    return f"session {row.key}"


def _origin(fork: ForkRow) -> str:
    origin = f"fork {forked_at(fork)}"
    return f"{origin}: {visible(fork.note)}" if fork.note else origin


def forked_at(fork: ForkRow) -> str:
    """Return where a fork was made and by whom, in words."""
    return f"{_place(fork)} {by(fork.actor)}".rstrip()


def tag_links(names: Iterable[str], app: str | None = None) -> tuple[Tag, ...]:
    """Return tags with links to the sessions of the app that have them, or of all apps."""
    return tuple(Tag(readable(name), tagged_url(name, app)) for name in names)


def fork_mark(fork: ForkRow | None) -> str:
    """Return a short label that tells a fork or replay from its parent, which has the same
    title."""
    if fork is None:
        return ""
    return f"{'replay' if fork.reason == 'replay' else 'fork'} {_place(fork)}"


def _place(fork: ForkRow) -> str:
    suffix = " (edited)" if fork.reason == "event" else ""
    return f"at #{fork.at}{suffix}" if fork.at else "at the start"


_HEADING = re.compile(r"#{1,6}\s+.*\b(sample|example)s?\s+(input|prompt)s?\b", re.IGNORECASE)
_ANY_HEADING = re.compile(r"#{1,6}\s")
_ITEM = re.compile(
    r"(?:[-*+]|\d+[.)])\s+(?:`(?P<code>[^`]+)`\s*$|[\"“]?(?P<text>[^`]*?)[\"”]?\s*$)"
)
"""An item of a list. Of one with code and prose, it isn't clear which is the prompt."""
_FENCE = "```"
MOST = 6
"""The maximum number of prompts offered."""


def example_prompts(readme: str) -> list[str]:
    """Return the example prompts of a README in order; none if it has no such section.

    A prompt is a fenced block or an item of a list.
    """
    prompts: list[str] = []
    in_section = False
    block: list[str] | None = None
    for line in readme.splitlines():
        if block is not None:
            if line.strip() == _FENCE:
                prompts += [text] if (text := "\n".join(block).strip()) else []
                block = None
            else:
                block.append(line)
        elif line.startswith(_FENCE):
            block = [] if in_section else None
            in_section = in_section and line.count(_FENCE) == 1
        elif _ANY_HEADING.match(line):
            in_section = bool(_HEADING.match(line))
        elif in_section and (item := _ITEM.match(line)):
            prompts.append(item["code"] or item["text"])
    return prompts[:MOST]
