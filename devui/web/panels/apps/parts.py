"""Apps: the pages of all apps and of one app, and the models of their parts."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import EMPTY, Failure, Field, Moment, Notice, Status, Tag, Theme
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
    """Why the app couldn't be imported; None if it could, or hasn't been yet."""
    reload_action: str
    create_action: str
    """Where to POST to create a session."""
    sessions: int
    last_used: Moment | None
    """When one of its sessions last changed; None if there is none."""
    facts: tuple[str, ...] = ()
    """What it is, in words: the class, model, tools and sub-agents of its root agent; its engine.
    Only what is known."""
    problem: str = ""
    """Why it won't load; "" if it hasn't a known problem, or was loaded."""


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    is_selected: bool


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine that an app runs on, the reason, and a form to change it."""

    template: ClassVar[str] = "apps/engine.html"
    name: str
    """`google-adk 2.13.0`; "" until the app is loaded."""
    reason: str
    action: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Attach:
    """How an editor's debugger attaches to the app's process."""

    template: ClassVar[str] = "apps/attach.html"
    address: str
    """`127.0.0.1:5678`."""
    configuration: str
    """One configuration for the editor's launch.json, as JSON text."""


@dataclass(frozen=True, slots=True)
class AppHead:
    """The top of an app's own page."""

    template: ClassVar[str] = "apps/app_head.html"
    name: str
    description: str
    status: AppStatus
    word: str
    failure: Failure | None
    """Why the app couldn't be imported; None if it could, or hasn't been yet."""
    reload_action: str
    """Where to POST to reload the app's code; "" if it can't be reloaded."""
    loads: int
    """How often its code has been loaded; when this changes, the page redraws what depends on the
    code."""
    engine: Engine
    output: str = ""
    """What the app printed and logged during its import."""
    attach: Attach | None = None


@dataclass(frozen=True, slots=True)
class UnusedFile:
    """A folder or file in the agents' folder that isn't used."""

    template: ClassVar[str] = "apps/unused.html"
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class OtherFolder:
    name: str
    contents: str
    """What is in it, in a few words."""


@dataclass(frozen=True, slots=True)
class OtherFolders:
    """The folders in the agents folder that have nothing to do with agents."""

    template: ClassVar[str] = "apps/other_folders.html"
    count: str
    """`12 other folders`."""
    first: tuple[OtherFolder, ...]
    """The first few."""
    rest: tuple[OtherFolder, ...] = ()
    """Further ones, shown on demand."""
    more: str = ""
    """How many aren't named at all, in words."""


@dataclass(frozen=True, slots=True)
class SessionItem:
    template: ClassVar[str] = "apps/session_item.html"
    key: int
    href: str
    app: str
    title: str
    """The title, or the default name of a session without one."""
    id: str
    user: str
    events: int
    updated: Moment
    status: Status
    word: str
    rename_action: str
    delete_action: str
    errors: int = 0
    """As in `RunStatus`."""
    show_app: bool = False
    forked: str = ""
    """`fork at #12`, for a fork."""
    starred: bool = False
    note: str = ""
    is_imported: bool = False
    """Whether it is imported and read-only."""
    tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session in an app's list."""

    template: ClassVar[str] = "apps/listed_session.html"
    session: SessionItem
    cost: str
    """`$0.42`; with a `+` if some of it is unknown."""
    query: str = ""
    """The query of the list that its menu returns to."""


@dataclass(frozen=True, slots=True)
class Column:
    label: str
    href: str = ""
    """The link that sorts the list by this column, or reverses the order; "" if it can't be sorted
    by."""
    order: Literal["ascending", "descending", "none"] = "none"


@dataclass(frozen=True, slots=True)
class SessionList:
    """A page of an app's sessions, filtered and sorted."""

    template: ClassVar[str] = "apps/session_list.html"
    action: str
    """The URL to which the filter is sent."""
    columns: tuple[Column, ...]
    statuses: tuple[Option, ...]
    sessions: tuple[ListedSession, ...]
    delete_action: str
    export_action: str
    tag_action: str
    clear_href: str
    """The link to the list without a filter."""
    text: str = ""
    """The text that the filter searches for in titles and ids, a session's number, or `tag:`
    terms."""
    tags: tuple[str, ...] = ()
    """The tags that the app's sessions have, as suggestions."""
    sort: str = ""
    order: str = ""
    """`sort` and `order` are "" for the defaults."""
    range: str = ""
    """`1-50 of 10,000`, with an en dash; "" if the list is empty."""
    total: int = 0
    """The number of sessions on all pages."""
    deed: str = ""
    """What was just done to the sessions, as a sentence; "" for nothing."""
    previous_href: str = ""
    next_href: str = ""
    is_filtered: bool = False
    """Whether a filter is active, so that some sessions may be missing."""


@dataclass(frozen=True, slots=True)
class DeletePage:
    """The page that asks for confirmation before several sessions are deleted."""

    template: ClassVar[str] = "pages/delete_sessions.html"
    theme: Theme
    app: str
    action: str
    back_href: str
    count: str
    """`3 sessions`."""
    keys: str
    """The sessions' keys, separated by commas."""
    sessions: tuple[SessionItem, ...]
    """The first of them."""
    more: str
    """How many aren't listed: `20 more`; "" if all are."""
    running: tuple[SessionItem, ...]
    """The sessions that aren't deleted, because a run is in progress."""


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
    """Whether the optional fields are unfolded, as after an error in one of them."""
    text: str = ""
    """The first message of the session."""
    has_focus: bool = False
    """Whether the message field gets the focus: if the app has no sessions and no field has an
    error."""


@dataclass(frozen=True, slots=True)
class AppsPage:
    """`/`: every app that was found, and the most recent sessions."""

    template: ClassVar[str] = "pages/apps.html"
    theme: Theme
    folder: str
    """The folder in which apps are looked for."""
    apps: tuple[AppCard, ...]
    recent: tuple[SessionItem, ...]
    left_out: tuple[UnusedFile, ...] = ()
    """Folders and files that look like agents but aren't listed."""
    others: OtherFolders | None = None
    unused_files: tuple[UnusedFile, ...] = ()
    """Files beside the apps that aren't fully supported, unlike in google-adk."""
    import_action: str = "/import"
    jobs: JobList = NO_IMPORTS
    journal: tuple[Notice, ...] = ()
    """Notices about problems with the journal and the server."""
    data_folder: str = ""
    """The path of the data folder."""
    sqlite: str = ""
    """The version of SQLite that stores the journal."""
    refusals_note: str = ""
    """A sentence about requests that were refused because they weren't signed in; "" if there were
    none."""


@dataclass(frozen=True, slots=True)
class AppPage:
    """`/apps/{app}`: one app, its sessions, and the form for a new one."""

    template: ClassVar[str] = "pages/app.html"
    theme: Theme
    head: AppHead
    readme: str
    """The app's README as Markdown; "" if it has none."""
    form: NewSession
    sessions: SessionList
    tools_href: str
    graph_href: str
    memory_href: str
    """The links to the app's tools, graph and memory."""
    prompts: tuple[str, ...] = ()
    """Example prompts from the README; each starts a session."""
    unused_files: tuple[UnusedFile, ...] = ()
    """Files in its folder that aren't fully supported, unlike in google-adk."""
    import_action: str = "/import"
    jobs: JobList = NO_IMPORTS
    journal: tuple[Notice, ...] = ()
    """Notices about problems with the journal and the server."""
