"""The URLs of the pages and of what they fetch, each made by one function."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

from devui.debugger.history.paths import Path, Pin, path_text
from devui.web.stream_offset import StreamOffset


def apps_url() -> str:
    return "/"


def search_url(text: str = "", *, before: int | None = None) -> str:
    """The search in all sessions; `before` is the seq of the journal below which a page of results
    begins."""
    return _with("/search", q=text or None, before=before)


def import_url(*, as_copy: bool, goes_on: bool) -> str:
    """Where the import form posts its file."""
    goes = {"continue": "yes" if goes_on else None}
    return _with("/import", ids="new" if as_copy else None, **goes)


def app_url(app: str) -> str:
    return f"/apps/{_segment(app)}"


def jobs_url(session: int | None) -> str:
    """The list of a session's jobs; without a session, of the imports."""
    return _with("/jobs", session=session)


def stop_job_url(job: str) -> str:
    return f"/jobs/{_segment(job)}/stop"


def create_session_url(app: str) -> str:
    return f"{app_url(app)}/sessions"


def sessions_url(app: str, words: Mapping[str, str | int]) -> str:
    """The app's page with its session list as the query `words` describes."""
    return _with(app_url(app), **words)


def delete_sessions_url(app: str, words: Mapping[str, str | int]) -> str:
    """Where to POST to delete several sessions; `words` is the query of the list to return to."""
    return _with(f"{app_url(app)}/sessions/delete", **words)


def tag_sessions_url(app: str, words: Mapping[str, str | int]) -> str:
    """Where to POST to tag several sessions; `words` is the query of the list to return to."""
    return _with(f"{app_url(app)}/sessions/tags", **words)


def tagged_url(tag: str, app: str | None = None) -> str:
    """The sessions with a tag: in the app's list, or in the search of all sessions."""
    term = f'tag:"{tag}"'
    return search_url(term) if app is None else f"{sessions_url(app, {'q': term})}#sessions"


def export_sessions_url(app: str, words: Mapping[str, str | int]) -> str:
    """Where to POST to export several sessions; `words` is the query of their list."""
    return _with(f"{app_url(app)}/sessions/export", **words)


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
    """The session page.

    Args:
        event: the number of the selected event.
        tab: the inspector's tab.
        hits: the breakpoint whose past hits that tab shows.
        at: the event that the page is shown as of.
        pin: the state key whose history is shown.
        since: the event whose state is compared with.
        only: the filter of the timeline.
        file: the artifact that is shown.
        view: what is shown instead of the timeline.
    """
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
    """The page as of an event, or as of now.

    `pin` is the state key whose history is shown, `since` the event whose state is compared with,
    `only` the filter of the timeline, `view` what is shown instead of it.
    """
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
    """The page as of the `previous` or `next` event that wrote to the state.

    With `pin`, only writes to that key count, unless `every` is set. The rest of the page stays as
    it is.
    """
    of = "all" if every and pin else None
    query = {"at": at, "of": of, "tab": tab, "since": since, "filter": only or None, "view": view}
    return _with(f"/sessions/{key}/writes/{direction}", **query, **_pin_query(pin))


def filter_words_url(key: int) -> str:
    """The terms that a filter of the session can use."""
    return f"/sessions/{key}/filter"


def key_history_url(key: int) -> str:
    """The history of a state key, as a fragment."""
    return f"/sessions/{key}/state/history"


def stream_url(key: int, after: StreamOffset, *, past: bool = False, only: str = "") -> str:
    """The page's stream of everything after an offset; `past` is set if the page is shown as of an
    event."""
    return _with(
        f"/sessions/{key}/stream",
        after=str(after),
        past="yes" if past else None,
        filter=only or None,
    )


def rows_url(key: int, *, only: str = "", at: int | None = None) -> str:
    """The rows that gaps leave out, on a page as of event `at` with its filter."""
    return _with(f"/sessions/{key}/rows", filter=only or None, at=at)


def messages_url(key: int, *, at: int | None = None) -> str:
    """The messages that gaps leave out, on a page as of event `at`."""
    return _with(f"/sessions/{key}/messages", at=at)


def event_file_url(key: int, number: int, path: Path) -> str:
    """The content of a file at a path in an event."""
    return _with(f"/sessions/{key}/events/{number}/file", path=path_text(path))


def queued_url(key: int, number: int) -> str:
    """One message of the session's queue."""
    return f"/sessions/{key}/queue/{number}"


def event_text_url(key: int, number: int) -> str:
    """The text of an event, as Markdown."""
    return f"/sessions/{key}/events/{number}/text"


def whole_event_url(key: int, number: int) -> str:
    """The whole event as JSON, however large it is."""
    return f"/api/sessions/{key}/events/{number}"


def state_api_url(key: int, at: int | None = None) -> str:
    """The whole state as JSON."""
    return _with(f"/api/sessions/{key}/state", at=at)


def state_keys_url(
    key: int, scope: str, *, at: int | None = None, start: str = "", find: str = ""
) -> str:
    """The keys of one scope as of event `at` that contain `find`, from the key `start` on."""
    query = {"scope": scope, "at": at, "find": find or None, "from": start or None}
    return _with(f"/sessions/{key}/state/keys", **query)


def state_value_url(key: int, pin: Pin, start: int = 0, *, at: int | None = None) -> str:
    """The value at `pin` in the state as of event `at`, from position `start` on."""
    return _with(
        f"/sessions/{key}/state/value", **_pin_query(pin), at=at, **{"from": start or None}
    )


def event_value_url(key: int, number: int, path: Path, start: int = 0) -> str:
    """The value at a path in an event, from position `start` on."""
    query = {"path": path_text(path), "from": start or None}
    return _with(f"/sessions/{key}/events/{number}/value", **query)


def runs_url(key: int) -> str:
    """Where to POST a message to start a run."""
    return f"/sessions/{key}/runs"


def note_url(key: int, number: int) -> str:
    """Where to POST a note on an event, or with number 0 on the session."""
    return f"/sessions/{key}/notes/{number}"


def tags_url(key: int) -> str:
    """Where to POST changes of the session's tags."""
    return f"/sessions/{key}/tags"


def export_url(key: int) -> str:
    """The page that shows what an export of the session would leave out."""
    return f"/sessions/{key}/export"


def test_url(key: int) -> str:
    """The page that makes a test from the session."""
    return f"/sessions/{key}/test"


def export_api_url(key: int) -> str:
    """The session exported as a file."""
    return f"/api/sessions/{key}/export"


def forks_url(key: int) -> str:
    """Where to POST to fork the session."""
    return f"/sessions/{key}/forks"


def replays_url(key: int) -> str:
    """Where to POST to replay a run of the session."""
    return f"/sessions/{key}/replays"


def rewind_url(key: int) -> str:
    """Where to POST to rewind the session to before a message."""
    return f"/sessions/{key}/rewind"


def close_url(key: int) -> str:
    """Where to POST to close an invocation that was cut off, without resuming it."""
    return f"/sessions/{key}/close"


def fork_here_url(key: int, event: int, *, edit: bool = False) -> str:
    """The session page with an event selected and its fork form open; `edit` lets the reader change
    the event."""
    return _with(f"/sessions/{key}", event=event, fork="edit" if edit else "yes")


def answers_url(key: int) -> str:
    """Where to POST the answer to an agent's question."""
    return f"/sessions/{key}/answers"


def breakpoints_url(key: int) -> str:
    """Where to POST a new breakpoint for the session's app."""
    return f"/sessions/{key}/breakpoints"


def break_sheet_url(key: int, number: int) -> str:
    """The form for breakpoints on events like this one."""
    return f"/sessions/{key}/events/{number}/breaks"


def breaks_here_url(key: int) -> str:
    """The breakpoints that match the event `like`, for that form."""
    return f"/sessions/{key}/breaks"


def hit_url(
    key: int,
    direction: str,
    event: int | None = None,
    *,
    tab: str | None = None,
    view: str | None = None,
) -> str:
    """The `previous` or `next` event at which a breakpoint would have stopped."""
    return _with(f"/sessions/{key}/hits/{direction}", event=event, tab=tab, view=view)


def breakpoint_url(key: int, number: int) -> str:
    """Where to POST to switch a breakpoint on or off."""
    return f"{breakpoints_url(key)}/{number}"


def breakpoint_edit_url(key: int, number: int) -> str:
    """Where to POST changes to a breakpoint."""
    return f"{breakpoint_url(key, number)}/edit"


def breakpoint_delete_url(key: int, number: int) -> str:
    return f"{breakpoint_url(key, number)}/delete"


def activity_url(key: int, event: int | None = None) -> str:
    """The inspector tab on what the run of an event, or the newest run, is waiting for."""
    return _with(f"/sessions/{key}/activity", event=event)


def raw_request_url(key: int, span: int) -> str:
    """The raw request to a model, as JSON text for the page."""
    return f"/sessions/{key}/spans/{span}/raw"


def block_url(key: int, span: int, position: int) -> str:
    """One block of the request to a model; positions start at 0."""
    return f"/sessions/{key}/spans/{span}/blocks/{position}"


def block_file_url(key: int, span: int, position: int, path: Path) -> str:
    """The content of a file at a path in a block, as `event_file_url` has it for events."""
    return _with(f"{block_url(key, span, position)}/file", path=path_text(path))


def span_api_url(key: int, span: int) -> str:
    """The request and response of a span, for programs."""
    return f"/api/sessions/{key}/spans/{span}"


def say_again_url(key: int, number: int) -> str:
    """The menu of a user's message."""
    return f"/sessions/{key}/events/{number}/again"


def again_url(key: int, span: int) -> str:
    """The form to repeat a model call with edits."""
    return f"/sessions/{key}/spans/{span}/again"


def try_call_url(key: int, number: int, call: str) -> str:
    """The form to try a tool by itself, with the arguments of a call in an event."""
    return f"/sessions/{key}/events/{number}/calls/{_segment(call)}"


def memory_url(app: str) -> str:
    """The memory of an app."""
    return f"{app_url(app)}/memory"


def tools_url(app: str) -> str:
    """The tools of an app."""
    return f"{app_url(app)}/tools"


def tool_url(app: str, tool: str) -> str:
    """The form to try a tool by itself."""
    return f"{tools_url(app)}/{_segment(tool)}"


def tool_effect_url(app: str, tool: str) -> str:
    """Where to POST the classification of a tool's side effects."""
    return f"{tool_url(app, tool)}/effect"


def log_tab_url(key: int, event: int | None = None) -> str:
    """The inspector tab on the output of the run of an event, or of the newest run."""
    return _with(f"/sessions/{key}/log", event=event)


def trace_url(key: int) -> str:
    """The waterfall of a run, as a fragment."""
    return f"/sessions/{key}/trace"


def request_url(key: int) -> str:
    """The inspector tab on the newest request to a model."""
    return f"/sessions/{key}/request"


def graph_url(key: int) -> str:
    """The inspector tab on the app's graph, with the nodes that the session has run."""
    return f"/sessions/{key}/graph"


def app_graph_url(app: str) -> str:
    """The graph of an app, as a fragment."""
    return f"{app_url(app)}/graph"


def trace_api_url(key: int, run: str | None = None) -> str:
    """The spans of the session, or of one run, for trace viewers."""
    return _with(f"/api/sessions/{key}/trace", run=run)


class SideNames(NamedTuple):
    """The names of two compared sides: session keys, or runs of a session as `12@2`."""

    left: str
    right: str


def choose_url(left: str, right: str = "") -> str:
    """The comparison of two sides; if one is missing, the page to choose it."""
    return _with("/compare", left=left or None, right=right or None)


def compare_url(
    sides: SideNames,
    *,
    start: int | None = None,
    unfolded: bool = False,
    open_row: tuple[int | None, int | None] | None = None,
    at: tuple[int | None, int | None] | None = None,
) -> str:
    """The page of a comparison.

    `start` is its first row, `open_row` the row whose differences are shown, `at` the focused row.
    """
    rows = {"open": open_row, "at": at}
    numbers = {
        name: "-".join(str(number or "") for number in row) for name, row in rows.items() if row
    }
    query = {"from": start, "unfold": "yes" if unfolded else None, **numbers}
    return _with("/compare", **sides._asdict(), **query)


def pair_url(sides: SideNames, left: int | None, right: int | None) -> str:
    """The differences between one event of each side."""
    return _with("/compare/events", **sides._asdict(), leftEvent=left, rightEvent=right)


def stretch_url(sides: SideNames, left: int | None, right: int | None, count: int) -> str:
    """Rows that are equal, or on one side only, from these events on."""
    events = {"leftEvent": left, "rightEvent": right, "count": count}
    return _with("/compare/rows", **sides._asdict(), **events)


def stop_url(run: str) -> str:
    return f"/runs/{_segment(run)}/stop"


def calls_url(run: str) -> str:
    """Where to POST the command that ends a call in progress."""
    return f"/runs/{_segment(run)}/calls"


def commands_url(run: str) -> str:
    """Where to POST the debugger's commands for a run."""
    return f"/runs/{_segment(run)}/commands"


def log_url(run: str) -> str:
    return f"/runs/{_segment(run)}/log"


def rename_url(key: int) -> str:
    return f"/sessions/{key}/title"


def delete_url(key: int) -> str:
    return f"/sessions/{key}/delete"


def artifact_url(key: int, name: str, version: int | None = None, *, download: bool = False) -> str:
    """The content of an artifact; with `download`, browsers save it whatever its type."""
    query = {"version": version, "download": "yes" if download else None}
    if name in _RELATIVE:
        return _with(f"/sessions/{key}/artifacts", name=name, **query)
    return _with(f"/sessions/{key}/artifacts/{_segment(name)}", **query)


def pdf_page_url(file: str, number: int) -> str:
    """A page of the PDF at the URL `file`, as an image."""
    return f"{file}{'&' if '?' in file else '?'}page={number}"


def pdf_pages_url(file: str) -> str:
    """All pages of the PDF at the URL `file`, as a fragment."""
    return f"{file}{'&' if '?' in file else '?'}pages=yes"


def files_url(key: int) -> str:
    """The artifacts tab, and where to POST an upload."""
    return f"/sessions/{key}/files"


def edit_state_url(key: int, name: str) -> str:
    """The State tab with the form for a state key; an empty name is for a new key."""
    return _with(f"/sessions/{key}", tab="state", edit=name)


def change_state_url(key: int) -> str:
    return f"/sessions/{key}/state"


def watch_url(key: int) -> str:
    """Where to POST to watch a state key, or to stop watching it."""
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
    """The session page with a version of an artifact, or with its changes since version
    `against`."""
    query = {"at": at, "event": event, "tab": "artifacts", "file": name, "version": version}
    return _with(f"/sessions/{key}", **query, **{"with": against})


_RELATIVE: Final = frozenset({".", ".."})
"""Browsers remove these steps from a path, however they are encoded (RFC 3986, 5.2.4)."""


def _pin_query(pin: Pin | None) -> dict[str, str | None]:
    if pin is None:
        return {}
    return {"key": pin.key, "path": path_text(pin.path) or None}


def _segment(text: str) -> str:
    return quote(text, safe="")


def _with(address: str, /, **query: int | str | None) -> str:
    params = {name: value for name, value in query.items() if value is not None}
    return f"{address}?{urlencode(params, safe='@')}" if params else address
