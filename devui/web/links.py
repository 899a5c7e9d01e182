"""Every address of the pages, by name."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

from devui.debugger.history.paths import Path, Pin, path_text
from devui.web.cursor import Cursor


def apps_url() -> str:
    return "/"


def search_url(text: str = "", *, before: int | None = None) -> str:
    """The search over all sessions; `before` is the journal's number below which a page begins."""
    return _with("/search", q=text or None, before=before)


def import_url(*, as_copy: bool, goes_on: bool) -> str:
    """Where the form of an import sends its file."""
    goes = {"continue": "yes" if goes_on else None}
    return _with("/import", ids="new" if as_copy else None, **goes)


def app_url(app: str) -> str:
    return f"/apps/{_segment(app)}"


def jobs_url(session: int | None) -> str:
    """The list of a session's jobs, or of the imports."""
    return _with("/jobs", session=session)


def stop_job_url(job: str) -> str:
    return f"/jobs/{_segment(job)}/stop"


def create_session_url(app: str) -> str:
    return f"{app_url(app)}/sessions"


def sessions_url(app: str, words: Mapping[str, str | int]) -> str:
    """The app with its list as the words of a query say."""
    return _with(app_url(app), **words)


def delete_sessions_url(app: str, words: Mapping[str, str | int]) -> str:
    """Where several sessions are deleted; the words are those of the list to come back to."""
    return _with(f"{app_url(app)}/sessions/delete", **words)


def export_sessions_url(app: str) -> str:
    return f"{app_url(app)}/sessions/export"


def engine_url(app: str) -> str:
    return f"{app_url(app)}/engine"


def reload_url(app: str) -> str:
    return f"{app_url(app)}/reload"


def session_url(
    key: int,
    *,
    event: int | None = None,
    tab: str | None = None,
    hits: int | None = None,
    at: int | None = None,
    pin: Pin | None = None,
    since: int | None = None,
    only: str = "",
    file: str | None = None,
    view: str | None = None,
) -> str:
    """The session page: the number of the event to show, the inspector's tab, the breakpoint
    whose hits over the past are shown there, the state key whose history is, the event whose
    state is compared with, the filter: `only` what it lets through is in the timeline, the
    artifact that is shown, and the view in the place of the timeline."""
    query = {"at": at, "event": event, "tab": tab, "hits": hits, "since": since}
    query |= {"filter": only or None, "file": file, "view": view}
    return _with(f"/sessions/{key}", **query, **_pin_query(pin))


def moment_url(
    key: int,
    at: int | None,
    *,
    tab: str | None = None,
    pin: Pin | None = None,
    since: int | None = None,
    only: str = "",
    view: str | None = None,
) -> str:
    """The page as of an event, or as it is now; `pin` is the state key whose history is shown,
    `since` the event whose state is compared with, `only` the filter of the timeline, `view` what
    is shown in its place."""
    query = {"at": at, "tab": tab, "since": since, "filter": only or None, "view": view}
    return _with(f"/sessions/{key}", **query, **_pin_query(pin))


def writes_url(
    key: int,
    direction: str,
    *,
    at: int | None,
    tab: str | None = None,
    pin: Pin | None = None,
    every: bool = False,
    since: int | None = None,
    only: str = "",
    view: str | None = None,
) -> str:
    """The page as of the event before or after (`previous`, `next`) that wrote to the state, or to
    the key `pin`, unless it is to be `every` key; what else it shows stays."""
    of = "all" if every and pin else None
    query = {"at": at, "of": of, "tab": tab, "since": since, "filter": only or None, "view": view}
    return _with(f"/sessions/{key}/writes/{direction}", **query, **_pin_query(pin))


def filter_words_url(key: int) -> str:
    """What a filter of the session may ask for."""
    return f"/sessions/{key}/filter"


def key_history_url(key: int) -> str:
    """The history of a state key, as a piece of the page."""
    return f"/sessions/{key}/state/history"


def stream_url(key: int, after: Cursor, *, past: bool = False, only: str = "") -> str:
    """The page's stream of everything that follows a point of the journal; `past`: the page is as
    of an event."""
    return _with(
        f"/sessions/{key}/stream",
        after=str(after),
        past="yes" if past else None,
        filter=only or None,
    )


def rows_url(key: int, *, only: str = "", at: int | None = None) -> str:
    """The rows of gaps, on a page as of event `at`, with its filter."""
    return _with(f"/sessions/{key}/rows", filter=only or None, at=at)


def messages_url(key: int, *, at: int | None = None) -> str:
    """The messages of gaps, on a page as of event `at`."""
    return _with(f"/sessions/{key}/messages", at=at)


def event_file_url(key: int, number: int, path: Path) -> str:
    """The bytes of a file at a path of an event."""
    return _with(f"/sessions/{key}/events/{number}/file", path=path_text(path))


def queued_url(key: int, number: int) -> str:
    """One message of the session's queue."""
    return f"/sessions/{key}/queue/{number}"


def event_text_url(key: int, number: int) -> str:
    """What an event says, as Markdown."""
    return f"/sessions/{key}/events/{number}/text"


def whole_event_url(key: int, number: int) -> str:
    """All of an event as JSON, however large it is."""
    return f"/api/sessions/{key}/events/{number}"


def state_api_url(key: int, at: int | None = None) -> str:
    """All of the state as JSON."""
    return _with(f"/api/sessions/{key}/state", at=at)


def state_keys_url(
    key: int, scope: str, *, at: int | None = None, start: str = "", find: str = ""
) -> str:
    """The keys of one scope as of the event `at`, with `find` in them, from one of them on."""
    query = {"scope": scope, "at": at, "find": find or None, "from": start or None}
    return _with(f"/sessions/{key}/state/keys", **query)


def state_value_url(key: int, pin: Pin, start: int = 0, *, at: int | None = None) -> str:
    """What the value of a state key holds at a place, as of the event `at`, from a position on."""
    return _with(
        f"/sessions/{key}/state/value", **_pin_query(pin), at=at, **{"from": start or None}
    )


def event_value_url(key: int, number: int, path: Path, start: int = 0) -> str:
    """What an event holds at a place, from a position on."""
    query = {"path": path_text(path), "from": start or None}
    return _with(f"/sessions/{key}/events/{number}/value", **query)


def runs_url(key: int) -> str:
    """Where a message is posted to start a run."""
    return f"/sessions/{key}/runs"


def note_url(key: int, number: int) -> str:
    """Where something is said of an event, or with 0 of the session."""
    return f"/sessions/{key}/notes/{number}"


def export_url(key: int) -> str:
    """The page of what a file of the session leaves out."""
    return f"/sessions/{key}/export"


def test_url(key: int) -> str:
    """The page that makes a test of the session."""
    return f"/sessions/{key}/test"


def export_api_url(key: int) -> str:
    """The session as a file."""
    return f"/api/sessions/{key}/export"


def forks_url(key: int) -> str:
    """Where a fork of the session is ordered."""
    return f"/sessions/{key}/forks"


def replays_url(key: int) -> str:
    """Where a run of the session is executed again."""
    return f"/sessions/{key}/replays"


def rewind_url(key: int) -> str:
    """Where the session is taken back to before a message."""
    return f"/sessions/{key}/rewind"


def close_url(key: int) -> str:
    """Where it is said that what was cut off stays as it is."""
    return f"/sessions/{key}/close"


def fork_here_url(key: int, event: int, *, edit: bool = False) -> str:
    """The session page with an event and the form for a fork there, if wanted to edit the event."""
    return _with(f"/sessions/{key}", event=event, fork="edit" if edit else "yes")


def answers_url(key: int) -> str:
    """Where the answer to an agent's question is posted."""
    return f"/sessions/{key}/answers"


def breakpoints_url(key: int) -> str:
    """Where a breakpoint for the session's app is made."""
    return f"/sessions/{key}/breakpoints"


def break_sheet_url(key: int, number: int) -> str:
    """The form for a breakpoint on events like this one."""
    return f"/sessions/{key}/events/{number}/breaks"


def breaks_here_url(key: int) -> str:
    """The breakpoints that sit on the event `like`, for that form."""
    return f"/sessions/{key}/breaks"


def hit_url(
    key: int,
    direction: str,
    event: int | None = None,
    *,
    tab: str | None = None,
    view: str | None = None,
) -> str:
    """The event before or after (`previous`, `next`) at which a breakpoint would have stopped."""
    return _with(f"/sessions/{key}/hits/{direction}", event=event, tab=tab, view=view)


def breakpoint_url(key: int, number: int) -> str:
    """Where one is switched on and off."""
    return f"{breakpoints_url(key)}/{number}"


def breakpoint_edit_url(key: int, number: int) -> str:
    """Where what it waits for is changed."""
    return f"{breakpoint_url(key, number)}/edit"


def breakpoint_delete_url(key: int, number: int) -> str:
    return f"{breakpoint_url(key, number)}/delete"


def standing_url(key: int) -> str:
    """What holds the session's run up, as the inspector's tab."""
    return f"/sessions/{key}/standing"


def raw_request_url(key: int, span: int) -> str:
    """What was sent to a model, as JSON text on the page."""
    return f"/sessions/{key}/spans/{span}/raw"


def block_url(key: int, span: int, position: int) -> str:
    """One block of what was sent, from 0."""
    return f"/sessions/{key}/spans/{span}/blocks/{position}"


def span_api_url(key: int, span: int) -> str:
    """What was sent and what came back, for programs."""
    return f"/api/sessions/{key}/spans/{span}"


def say_again_url(key: int, number: int) -> str:
    """The menu of a user's message."""
    return f"/sessions/{key}/events/{number}/again"


def again_url(key: int, span: int) -> str:
    """A model call once more, with edits."""
    return f"/sessions/{key}/spans/{span}/again"


def try_call_url(key: int, number: int, call: str) -> str:
    """A tool by itself, with the arguments of a call in an event."""
    return f"/sessions/{key}/events/{number}/calls/{_segment(call)}"


def memory_url(app: str) -> str:
    """What an app remembers."""
    return f"{app_url(app)}/memory"


def tools_url(app: str) -> str:
    """The tools of an app."""
    return f"{app_url(app)}/tools"


def tool_url(app: str, tool: str) -> str:
    """A tool by itself."""
    return f"{tools_url(app)}/{_segment(tool)}"


def tool_effect_url(app: str, tool: str) -> str:
    """Where it is said what a tool does to the world."""
    return f"{tool_url(app, tool)}/effect"


def log_tab_url(key: int, event: int | None = None) -> str:
    """What the run of an event prints, or the newest run, as the inspector's tab."""
    return _with(f"/sessions/{key}/log", event=event)


def trace_url(key: int) -> str:
    """The waterfall of a run, as a piece of the page."""
    return f"/sessions/{key}/trace"


def request_url(key: int) -> str:
    """The newest request to a model, as the inspector's tab."""
    return f"/sessions/{key}/request"


def graph_url(key: int) -> str:
    """The graph of the app with what the session has run, as the inspector's tab."""
    return f"/sessions/{key}/graph"


def app_graph_url(app: str) -> str:
    """The graph of an app, as a piece of its page."""
    return f"{app_url(app)}/graph"


def trace_api_url(key: int, run: str | None = None) -> str:
    """The spans of the session, or of one run, for viewers of traces."""
    return _with(f"/api/sessions/{key}/trace", run=run)


class Compared(NamedTuple):
    """The names of two sides: sessions by their keys, runs of them as `12@2`."""

    left: str
    right: str


def choose_url(left: str, right: str = "") -> str:
    """The comparison of two sides; a choice, where one is not named."""
    return _with("/compare", left=left or None, right=right or None)


def compare_url(
    sides: Compared,
    *,
    start: int | None = None,
    unfolded: bool = False,
    open_row: tuple[int | None, int | None] | None = None,
    at: tuple[int | None, int | None] | None = None,
) -> str:
    """The page of a comparison: its first row, the row whose difference is shown, and the one that
    has the focus."""
    rows = {"open": open_row, "at": at}
    numbers = {
        name: "-".join(str(number or "") for number in row) for name, row in rows.items() if row
    }
    query = {"from": start, "unfold": "yes" if unfolded else None, **numbers}
    return _with("/compare", **sides._asdict(), **query)


def pair_url(sides: Compared, left: int | None, right: int | None) -> str:
    """What differs between an event of each side."""
    return _with("/compare/events", **sides._asdict(), leftEvent=left, rightEvent=right)


def stretch_url(sides: Compared, left: int, right: int, count: int) -> str:
    """Rows that are the same, from these events on."""
    events = {"leftEvent": left, "rightEvent": right, "count": count}
    return _with("/compare/rows", **sides._asdict(), **events)


def stop_url(run: str) -> str:
    return f"/runs/{_segment(run)}/stop"


def calls_url(run: str) -> str:
    """Where an order about a call under way is posted."""
    return f"/runs/{_segment(run)}/calls"


def commands_url(run: str) -> str:
    """Where the debugger's commands for a run are posted."""
    return f"/runs/{_segment(run)}/commands"


def log_url(run: str) -> str:
    return f"/runs/{_segment(run)}/log"


def rename_url(key: int) -> str:
    return f"/sessions/{key}/title"


def delete_url(key: int) -> str:
    return f"/sessions/{key}/delete"


def artifact_url(key: int, name: str, version: int | None = None, *, download: bool = False) -> str:
    """The bytes of an artifact; with `download` a browser saves them, whatever they are."""
    query = {"version": version, "download": "yes" if download else None}
    if name in _RELATIVE:
        return _with(f"/sessions/{key}/artifacts", name=name, **query)
    return _with(f"/sessions/{key}/artifacts/{_segment(name)}", **query)


def pdf_page_url(file: str, number: int) -> str:
    """A page of the PDF at this address as a picture."""
    return f"{file}{'&' if '?' in file else '?'}page={number}"


def pdf_pages_url(file: str) -> str:
    """All pages of the PDF at this address, as a part of a page."""
    return f"{file}{'&' if '?' in file else '?'}pages=yes"


def files_url(key: int) -> str:
    """The tab about the artifacts, and where one is uploaded."""
    return f"/sessions/{key}/files"


def edit_state_url(key: int, name: str) -> str:
    """The State tab with the form for a state key; without a name, for a new one."""
    return _with(f"/sessions/{key}", tab="state", edit=name)


def change_state_url(key: int) -> str:
    return f"/sessions/{key}/state"


def watch_url(key: int) -> str:
    """Where a state key is watched, or watched no more."""
    return f"/sessions/{key}/watched"


def delete_file_url(key: int) -> str:
    return f"/sessions/{key}/files/delete"


def file_version_url(
    key: int,
    name: str,
    version: int | None,
    *,
    event: int | None = None,
    at: int | None = None,
    against: int | None = None,
) -> str:
    """The session page with a version of an artifact, or what changed in it since `against`."""
    query = {"at": at, "event": event, "tab": "artifacts", "file": name, "version": version}
    return _with(f"/sessions/{key}", **query, **{"with": against})


_RELATIVE: Final = frozenset({".", ".."})
"""What browsers take out of a path, however it is spelled (RFC 3986, 5.2.4)."""


def _pin_query(pin: Pin | None) -> dict[str, str | None]:
    if pin is None:
        return {}
    return {"key": pin.key, "path": path_text(pin.path) or None}


def _segment(text: str) -> str:
    return quote(text, safe="")


def _with(address: str, /, **query: int | str | None) -> str:
    params = {name: value for name, value in query.items() if value is not None}
    return f"{address}?{urlencode(params, safe='@')}" if params else address
