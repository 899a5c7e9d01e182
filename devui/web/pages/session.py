"""A session: chat, timeline, inspector; and what can be done about one of its messages."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.pages import Theme
from devui.web.parts.basics import Notice
from devui.web.parts.chat import Chat
from devui.web.parts.debugger import Debugger
from devui.web.parts.inspector import Inspector
from devui.web.parts.recovery import AgainMenu
from devui.web.parts.replays import Replay
from devui.web.parts.session import PageStream, TopBar, Transport
from devui.web.parts.timeline import Timeline


@dataclass(frozen=True, slots=True)
class SessionPage:
    """`/sessions/{key}`: chat, timeline, inspector."""

    template: ClassVar[str] = "pages/session.html"
    theme: Theme
    key: int
    name: str
    """The session's title, for the browser's tab."""
    topbar: TopBar
    chat: Chat
    timeline: Timeline
    inspector: Inspector
    transport: Transport
    debugger: Debugger
    replay: Replay
    stream: PageStream
    notices: tuple[Notice, ...] = ()
    journal: tuple[Notice, ...] = ()
    """What is wrong with the journal."""
    opened: bool = False
    """A tab was asked for: narrow windows open the inspector with the page."""


@dataclass(frozen=True, slots=True)
class AgainPage:
    """`/sessions/{key}/events/{number}/again`: a message's menu as a page, without JavaScript."""

    template: ClassVar[str] = "pages/again.html"
    theme: Theme
    name: str
    session_href: str
    menu: AgainMenu
