"""Apps: the pages of all apps and of one app, and the models of their parts."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import EMPTY, Failure, Field, Moment, Notice, Status, Theme
from devui.web.panels.jobs.panel import NO_IMPORTS, JobList

AppStatus = Literal["ready", "starting", "idle", "broken"]


@dataclass(frozen=True, slots=True)
class AppCard:
    template: ClassVar[str] = "apps/app_card.html"
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
    last_used: Moment | None
    """When its newest session changed."""


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    is_selected: bool


@dataclass(frozen=True, slots=True)
class Engine:
    """What an app runs on, why, and a form to change it."""

    template: ClassVar[str] = "apps/engine.html"
    name: str
    """`google-adk 2.13.0`; "" as long as the app is not loaded."""
    reason: str
    action: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Attach:
    """Where an editor's debugger attaches to the app's process."""

    template: ClassVar[str] = "apps/attach.html"
    address: str
    """`127.0.0.1:5678`."""
    configuration: str
    """For the editor's launch.json: the JSON text of one configuration."""


@dataclass(frozen=True, slots=True)
class AppHead:
    """The top of an app's own page."""

    template: ClassVar[str] = "apps/app_head.html"
    name: str
    description: str
    status: AppStatus
    word: str
    failure: Failure | None
    """Why the app could not be imported."""
    reload_action: str
    """"" if its code can't be read anew."""
    engine: Engine
    output: str = ""
    """What it printed and logged while it was imported."""
    attach: Attach | None = None


@dataclass(frozen=True, slots=True)
class Unused:
    """A folder or file of the agents that is not used."""

    template: ClassVar[str] = "apps/unused.html"
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class SessionItem:
    template: ClassVar[str] = "apps/session_item.html"
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
    starred: bool = False
    note: str = ""
    is_imported: bool = False
    """It is read only."""


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A row of an app's list."""

    template: ClassVar[str] = "apps/listed_session.html"
    session: SessionItem
    cost: str
    """`$0.42`; with a `+` if some of it is unknown."""
    query: str = ""
    """The query of the list that its menu comes back to."""


@dataclass(frozen=True, slots=True)
class Column:
    label: str
    href: str = ""
    """The list sorted by it, or in the other order if it is; "" if it can't be sorted by."""
    order: Literal["ascending", "descending", "none"] = "none"


@dataclass(frozen=True, slots=True)
class SessionList:
    """An app's sessions: a page of those that match, in an order."""

    template: ClassVar[str] = "apps/session_list.html"
    action: str
    """Where the filter is sent."""
    columns: tuple[Column, ...]
    statuses: tuple[Option, ...]
    sessions: tuple[ListedSession, ...]
    delete_action: str
    export_action: str
    clear_href: str
    """The list without a filter."""
    text: str = ""
    """What the filter looks for in titles and ids, or a number."""
    sort: str = ""
    order: str = ""
    """Both "" for the default."""
    range: str = ""
    """`1-50 of 10,000`, with an en dash; "" for none."""
    previous_href: str = ""
    next_href: str = ""
    is_filtered: bool = False
    """Some sessions may be missing because of the filter."""


@dataclass(frozen=True, slots=True)
class DeletePage:
    """Asks once before several sessions are deleted."""

    template: ClassVar[str] = "pages/delete_sessions.html"
    theme: Theme
    app: str
    action: str
    back_href: str
    count: str
    """`3 sessions`."""
    sessions: tuple[SessionItem, ...]
    running: tuple[SessionItem, ...]
    """Those that stay, since a run is in progress."""


@dataclass(frozen=True, slots=True)
class NewSession:
    template: ClassVar[str] = "apps/new_session.html"
    action: str
    disabled_reason: str = ""
    title: Field = EMPTY
    id: Field = EMPTY
    user: Field = EMPTY
    state: Field = EMPTY
    open: bool = False
    """Whether the optional fields are unfolded; so after an error in one of them."""
    text: str = ""
    """The message that the session begins with."""
    has_focus: bool = False
    """Whether typing goes there at once; so while the app has no sessions and nothing is wrong."""


@dataclass(frozen=True, slots=True)
class AppsPage:
    """`/`: every app that was found, and the sessions used last."""

    template: ClassVar[str] = "pages/apps.html"
    theme: Theme
    folder: str
    """Where apps are looked for."""
    apps: tuple[AppCard, ...]
    recent: tuple[SessionItem, ...]
    left_out: tuple[Unused, ...] = ()
    """What looks like an agent and is not listed."""
    unused_files: tuple[Unused, ...] = ()
    """Files beside the apps that do less here than with google-adk."""
    import_action: str = "/import"
    jobs: JobList = NO_IMPORTS
    journal: tuple[Notice, ...] = ()
    """What is wrong with the journal."""
    data_folder: str = ""
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
    sessions: SessionList
    tools_href: str
    graph_href: str
    memory_href: str
    """Where its tools, graph and memory are told."""
    prompts: tuple[str, ...] = ()
    """Example prompts of the README; each starts a session."""
    unused_files: tuple[Unused, ...] = ()
    """Files of its folder that do less here than with google-adk."""
    import_action: str = "/import"
    jobs: JobList = NO_IMPORTS
    journal: tuple[Notice, ...] = ()
    """What is wrong with the journal."""
