"""Realistic models of the pages about apps, and of their lists of sessions."""

from devui.web import links
from devui.web.parts import every as parts
from devui.web.text.formats import moment
from tests.web.samples import WELCOME
from tests.web.travel_samples import NOW


def app_card(
    name: str, status: parts.AppStatus, description: str = "", n: int = 0
) -> parts.AppCard:
    broken = status == "broken"
    words = {"ready": "ready", "starting": "starting", "idle": "not started", "broken": "broken"}
    trace = (
        "Traceback (most recent call last):\n"
        f'  File "agents/{name}/agent.py", line 3, in <module>\n    import httpz\n'
        "ModuleNotFoundError: No module named 'httpz'\n"
    )
    return parts.AppCard(
        name=name,
        href=links.app_url(name),
        description=description,
        status=status,
        word=words[status],
        failure=parts.Failure(
            "ModuleNotFoundError: No module named 'httpz'", f"agents/{name}/agent.py:3", trace
        )
        if broken
        else None,
        reload_action=links.reload_url(name),
        create_action=links.create_session_url(name),
        sessions=n,
        used=moment(NOW) if n else None,
    )


def app_head(card: parts.AppCard) -> parts.AppHead:
    return parts.AppHead(
        name=card.name,
        description=card.description,
        status=card.status,
        word=card.word,
        failure=card.failure,
        reload_action=card.reload_action,
        printed="reading <b>prices</b>\nwarning: prices: they are of last year",
    )


def session_item(
    key: int, title: str, status: parts.Status, *, app: bool = False
) -> parts.SessionItem:
    return parts.SessionItem(
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
    )


CARDS = (
    app_card("faulty", "broken", n=2),
    app_card(
        "field_state", "idle", "A custom agent that shows yield, commit, resume and the dirty read."
    ),
    app_card(
        "summary", "starting", "Summarises a text and streams its answer in about forty chunks."
    ),
    app_card("travel", "ready", WELCOME.description, 4),
)
SESSIONS = (
    session_item(1, "Flight to London", "done"),
    session_item(
        2,
        "Which airports does Paris have? And a title that is much longer than the line",
        "running",
    ),
    session_item(3, "session 77aa01", "failed"),
    session_item(4, "رحلة إلى لندن", "stopped"),
    session_item(5, "Weekend in Rome", "interrupted"),
    session_item(6, "untouched", "idle"),
)
README = """# Travel

Plans trips with a *scripted* model, so it needs no key.

```python
root_agent = Agent(name="TravelAgent", tools=[find_airports])
```

## Example prompts

1. Book a flight to London next Tuesday
2. Which airports does **Paris** have?
"""
