"""Realistic models of the pages about apps, and of their lists of sessions."""

from typing import Any

from devui.web import links
from devui.web.basic_parts import Failure, Status
from devui.web.panels.apps.lists import attach, tag_links
from devui.web.panels.apps.parts import (
    AppCard,
    AppHead,
    AppStatus,
    Column,
    Engine,
    ListedSession,
    Option,
    OtherFolder,
    OtherFolders,
    SessionItem,
    SessionList,
    UnusedFile,
)
from devui.web.text.formats import moment
from tests.web.samples import WELCOME
from tests.web.travel_samples import NOW


def app_card(name: str, status: AppStatus, description: str = "", n: int = 0) -> AppCard:
    broken = status == "broken"
    words = {"ready": "ready", "starting": "starting", "idle": "not started", "broken": "broken"}
    trace = (
        "Traceback (most recent call last):\n"
        f'  File "agents/{name}/agent.py", line 3, in <module>\n    import httpz\n'
        "ModuleNotFoundError: No module named 'httpz'\n"
    )
    return AppCard(
        name=name,
        href=links.app_url(name),
        description=description,
        status=status,
        word=words[status],
        failure=Failure(
            "ModuleNotFoundError: No module named 'httpz'.\nInstall it where the agents run:"
            " `/srv/app/.venv/bin/python -m pip install httpz`",
            f"agents/{name}/agent.py:3",
            trace,
            "Engine google-adk 2.13.0, Python 3.13.2 (/srv/app/.venv/bin/python)",
        )
        if broken
        else None,
        reload_action=links.reload_url(name),
        create_action=links.create_session_url(name),
        sessions=n,
        last_used=moment(NOW) if n else None,
        facts=() if broken else ("LlmAgent", "gemini-2.5-flash", "4 tools", "2 sub-agents"),
    )


def app_head(card: AppCard) -> AppHead:
    return AppHead(
        name=card.name,
        description=card.description,
        status=card.status,
        word=card.word,
        failure=card.failure,
        reload_action=card.reload_action,
        loads=1,
        engine=Engine(
            name="google-adk 2.13.0",
            reason="its code imports google.adk, which the workers' Python has",
            action=links.engine_url(card.name),
            options=(
                Option("", "automatic", is_selected=True),
                Option("google-adk", "google-adk", is_selected=False),
                Option("devui", "devui", is_selected=False),
            ),
        ),
        output="reading <b>prices</b>\nwarning: prices: they are of last year",
        attach=attach(card.name, 5678),
    )


def session_item(
    key: int,
    title: str,
    status: Status,
    *,
    app: bool = False,
    errors: int = 0,
    tags: tuple[str, ...] = (),
) -> SessionItem:
    return SessionItem(
        key=key,
        href=links.session_url(key),
        app="travel",
        title=title,
        id="4f21c9d0-5d1e-4b8e-9d3a-1f0f6c2b7a11",
        user="user",
        events=13 * key,
        updated=moment(NOW - key * 4000),
        status=status,
        word=status,
        rename_action=links.rename_url(key),
        delete_action=links.delete_url(key),
        show_app=app,
        errors=errors,
        tags=tag_links(tags, "travel"),
    )


CARDS = (
    app_card("faulty", "broken", n=2),
    app_card(
        "field_state", "idle", "A custom agent that shows yield, commit, resume and the dirty read."
    ),
    app_card(
        "summary", "starting", "Summarizes a text and streams its answer in about forty chunks."
    ),
    app_card("travel", "ready", WELCOME.description, 4),
)
SESSIONS = (
    session_item(1, "Flight to London", "done", errors=3),
    session_item(
        2,
        "Which airports does Paris have? And a title that is much longer than the line",
        "running",
        tags=("bug", "needs review", "paris", "regression of 2.13", "slow"),
    ),
    session_item(3, "session 3", "failed"),
    session_item(4, "رحلة إلى لندن", "stopped", tags=("مهم",)),
    session_item(5, "Weekend in Rome", "interrupted"),
    session_item(6, "untouched", "idle"),
)
COLUMNS = (
    Column("Title", "/apps/travel?sort=title"),
    Column("User"),
    Column("ID"),
    Column("Events", "/apps/travel?sort=events"),
    Column("Cost", "/apps/travel?sort=cost"),
    Column("Status", "/apps/travel?sort=status"),
    Column("Last activity", "/apps/travel?order=asc", "descending"),
)


def session_list(*sessions: SessionItem, **more: Any) -> SessionList:
    return SessionList(
        action="/apps/travel",
        columns=COLUMNS,
        statuses=(
            Option("", "Any status", is_selected=True),
            Option("done", "Done", is_selected=False),
        ),
        sessions=tuple(ListedSession(each, f"${each.key / 7:.2f}+") for each in sessions),
        tags=("bug", "needs review"),
        tag_action="/apps/travel/sessions/tags",
        delete_action="/apps/travel/sessions/delete",
        export_action="/apps/travel/sessions/export",
        clear_href="/apps/travel",
        **more,
    )


LISTED = session_list(
    *SESSIONS,
    sort="cost",
    order="asc",
    range="51 to 56 of 10,000",
    total=10_000,
    deed="Deleted 50 sessions.",
    previous_href="/apps/travel",
    next_href="/apps/travel?page=3",
)
LEFT_OUT = (
    UnusedFile(
        "my agent",
        "Python can't import a folder with this name. Rename it, for example to my_agent.",
    ),
    UnusedFile(
        "services.yaml",
        "devui stores sessions, artifacts, and memory itself, so services registered here aren't"
        " used.",
    ),
)
FOLDERS = tuple(
    OtherFolder(name, "no Python files") for name in ("data", "docs", "evals", "scripts", "web")
)
OTHERS = OtherFolders("5 other folders", FOLDERS[:3], FOLDERS[3:])
FEW_OTHERS = OtherFolders("2 other folders", FOLDERS[:2])
UNREAD = (UnusedFile("plugins.yaml", "Name other plugins with --extra_plugins."),)
README = """# Travel

Plans trips with a *scripted* model, so it needs no key.

```python
root_agent = Agent(name="TravelAgent", tools=[find_airports])
```

## Example prompts

1. Book a flight to London next Tuesday
2. Which airports does **Paris** have?
"""
