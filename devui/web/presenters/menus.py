"""What the top bar of a session leads to: its name, the other sessions, the other apps."""

from devui.store.rows import SessionRow
from devui.web.links import app_url, rename_url, session_url
from devui.web.parts.session import MenuItem, Title
from devui.web.presenters.lists import session_name, unnamed
from devui.web.text.visible import visible


def session_title(row: SessionRow) -> Title:
    """The name in the top bar, to be changed in place."""
    return Title(visible(row.title or ""), unnamed(row), rename_url(row.key))


def session_menu(rows: list[SessionRow], current: int) -> tuple[MenuItem, ...]:
    """The newest sessions of an app, to switch to."""
    return tuple(
        MenuItem(
            label=session_name(row),
            href=session_url(row.key),
            note=visible(row.user),
            current=row.key == current,
        )
        for row in rows
    )


def app_menu(names: list[str], current: str) -> tuple[MenuItem, ...]:
    """The other apps."""
    return tuple(MenuItem(name, app_url(name), current=name == current) for name in names)
