"""Apps and lists of sessions."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.parts.basics import Failure, Moment
from devui.web.parts.status import Status

AppStatus = Literal["ready", "starting", "idle", "broken"]


@dataclass(frozen=True, slots=True)
class AppCard:
    template: ClassVar[str] = "parts/app_card.html"
    name: str
    href: str
    description: str
    status: AppStatus
    word: str
    failure: Failure | None
    """Why the app could not be imported."""
    reload_action: str
    create_action: str
    """Where a new session is asked for."""
    sessions: int
    used: Moment | None
    """When its newest session changed."""


@dataclass(frozen=True, slots=True)
class AppHead:
    """The top of an app's own page."""

    template: ClassVar[str] = "parts/app_head.html"
    name: str
    description: str
    status: AppStatus
    word: str
    failure: Failure | None
    """Why the app could not be imported."""
    reload_action: str
    printed: str = ""
    """What it printed and logged while it was imported."""


@dataclass(frozen=True, slots=True)
class SessionItem:
    template: ClassVar[str] = "parts/session_item.html"
    key: int
    href: str
    app: str
    title: str
    """The title, or what the session is called without one."""
    id: str
    user: str
    events: int
    updated: Moment
    status: Status
    word: str
    rename_action: str
    delete_action: str
    show_app: bool = False
    forked: str = ""
    """`fork at #12`, for a fork."""
    pick: bool = False
    """It can be picked to be compared."""
    starred: bool = False
    note: str = ""
    imported: bool = False
    """It is read only."""


@dataclass(frozen=True, slots=True)
class Field:
    """A form field as it was posted, and what is wrong with it."""

    value: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class NewSession:
    template: ClassVar[str] = "parts/new_session.html"
    action: str
    disabled_reason: str = ""
    title: Field = Field()
    id: Field = Field()
    user: Field = Field()
    state: Field = Field()
    open: bool = False
    """Whether the optional fields are unfolded; so after an error in one of them."""
