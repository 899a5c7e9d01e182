"""The pages: one model per template, with exactly the template's variables.

`theme` is the value of the cookie of that name: `auto`, `light` or `dark`.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web import parts

Theme = Literal["auto", "light", "dark"]


@dataclass(frozen=True, slots=True)
class AppsPage:
    """`/`: every app that was found, and the sessions used last."""

    template: ClassVar[str] = "pages/apps.html"
    theme: Theme
    folder: str
    """Where apps are looked for."""
    apps: tuple[parts.AppCard, ...]
    recent: tuple[parts.SessionItem, ...]
    import_action: str = "/import"
    journal: tuple[parts.Notice, ...] = ()
    """What is wrong with the journal."""


@dataclass(frozen=True, slots=True)
class AppPage:
    """`/apps/{app}`: one app, its sessions, and a way to start another."""

    template: ClassVar[str] = "pages/app.html"
    theme: Theme
    head: parts.AppHead
    readme: str
    """The app's README as markdown; "" if it has none."""
    form: parts.NewSession
    sessions: tuple[parts.SessionItem, ...]
    tools_href: str
    """Where its tools are told."""
    older_href: str | None = None
    starred: bool = False
    """Only sessions with a star are listed."""
    import_action: str = "/import"
    journal: tuple[parts.Notice, ...] = ()
    """What is wrong with the journal."""


@dataclass(frozen=True, slots=True)
class ExportPage:
    """`/sessions/{key}/export`: what a file of the session leaves out."""

    template: ClassVar[str] = "pages/export.html"
    theme: Theme
    name: str
    session_href: str
    action: str
    """This page, with other choices."""
    download: str
    """The file."""
    findings: tuple[parts.Left, ...]
    keys: tuple[parts.KeyChoice, ...]
    keep: bool
    """Secrets stay in."""


@dataclass(frozen=True, slots=True)
class MakeTestPage:
    """`/sessions/{key}/test`: what a test of the session checks, and where it is written."""

    template: ClassVar[str] = "pages/test.html"
    theme: Theme
    name: str
    session_href: str
    action: str
    base: str
    """The folder below which it is written."""
    runs: tuple[parts.RunChoice, ...]
    keep: bool
    """Secrets stay in."""
    preview: parts.TestPreview


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """The frame of a session as one HTML file; messages, rows and events go into its gaps."""

    template: ClassVar[str] = "pages/exported.html"
    name: str
    app: str
    user: str
    id: str
    events: str
    """`12 events`."""
    note: parts.NoteForm | None
    state: parts.StatePanel
    """As it is in the end."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """`/sessions/{key}`: chat, timeline, inspector."""

    template: ClassVar[str] = "pages/session.html"
    theme: Theme
    key: int
    name: str
    """The session's title, for the browser's tab."""
    topbar: parts.TopBar
    chat: parts.Chat
    timeline: parts.Timeline
    inspector: parts.Inspector
    transport: parts.Transport
    debugger: parts.Debugger
    replay: parts.Replay
    stream_href: str
    """The stream of everything that comes after this page."""
    notices: tuple[parts.Notice, ...] = ()
    journal: tuple[parts.Notice, ...] = ()
    """What is wrong with the journal."""


@dataclass(frozen=True, slots=True)
class ComparePage:
    """`/compare`: two sessions or runs beside each other."""

    template: ClassVar[str] = "pages/compare.html"
    theme: Theme
    left: parts.CompareSide
    right: parts.CompareSide
    swap_href: str
    verdict: parts.Verdict
    figures: tuple[parts.CompareFigure, ...]
    table: parts.CompareTable
    folded: bool
    """What is the same is folded."""
    fold_href: str
    """The same page with that unfolded, or folded again."""


@dataclass(frozen=True, slots=True)
class ChoosePage:
    """`/compare` as long as a side is not named."""

    template: ClassVar[str] = "pages/choose.html"
    theme: Theme
    choice: parts.CompareChoice
