"""Apps: all of them, and one with its sessions."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.pages import Theme
from devui.web.parts.apps import AppCard, AppHead, NewSession, SessionItem
from devui.web.parts.basics import Notice


@dataclass(frozen=True, slots=True)
class AppsPage:
    """`/`: every app that was found, and the sessions used last."""

    template: ClassVar[str] = "pages/apps.html"
    theme: Theme
    folder: str
    """Where apps are looked for."""
    apps: tuple[AppCard, ...]
    recent: tuple[SessionItem, ...]
    import_action: str = "/import"
    journal: tuple[Notice, ...] = ()
    """What is wrong with the journal."""
    kept: str = ""
    """The data folder."""
    sqlite: str = ""
    """The version of SQLite that keeps the journal."""
    unsigned: str = ""
    """Who was asked to sign in, if anybody."""


@dataclass(frozen=True, slots=True)
class AppPage:
    """`/apps/{app}`: one app, its sessions, and a way to start another."""

    template: ClassVar[str] = "pages/app.html"
    theme: Theme
    head: AppHead
    readme: str
    """The app's README as markdown; "" if it has none."""
    form: NewSession
    sessions: tuple[SessionItem, ...]
    tools_href: str
    """Where its tools are told."""
    older_href: str | None = None
    starred: bool = False
    """Only sessions with a star are listed."""
    import_action: str = "/import"
    journal: tuple[Notice, ...] = ()
    """What is wrong with the journal."""
