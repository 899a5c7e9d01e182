"""Tools that inspect sessions: events, state, prompts, and what a run is waiting for."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import Field

from devui.client import Client
from devui.failures import BadRequestError, NotFoundError
from devui.mcp.answers import (
    as_json,
    change_line,
    cut,
    join_lines,
    one_line,
    position_lines,
    quantity,
    question_line,
    row_line,
    run_line,
    short,
    short_json,
    traceback_lines,
    with_newest,
)
from devui.mcp.tool import SessionTool, Tool, known_app

_SESSIONS: Final = 30
_RUNS: Final = 5
_ROWS: Final = 1000
"""The maximum number of events that the server lists at once."""
_BLOCK: Final = 1500
"""The maximum number of characters shown of one message of a prompt."""
_CONFIG: Final = 300
_TEXT_LENGTH: Final = 60
_VALUE: Final = 4000
"""The maximum number of characters of a requested state value; leaves room for its writes."""
_WRITES: Final = 20


class ListSessions(Tool):
    """List apps and sessions, the most recently active first, or find events in all sessions."""

    app: str | None = None
    status: Literal["failed", "held", "running", "waiting", "interrupted", "done"] | None = None
    """Of the newest run; needs app"""
    tag: str | None = None
    """Only sessions with this tag"""
    find: str = ""
    """Filter as in what_happened, and tag:bug: search all sessions instead"""

    def answer(self, client: Client) -> str:
        """Return one line per session, or per matching event."""
        if self.find:
            return _matches(client.search(self.find))
        if self.status and not self.app:
            raise BadRequestError("status needs app")
        apps = client.adk.list_apps()
        if self.status and self.tag:
            answer = client.sessions(app=self.app, status=self.status, q=f'tag:"{self.tag}"')
        else:
            answer = client.sessions(app=self.app, status=self.status, tag=self.tag)
        rows = answer["sessions"]
        if self.app is not None and not rows:
            known_app(self.app, apps)
        lines = [f"apps: {', '.join(apps)}", *map(_session_line, rows[:_SESSIONS])]
        if len(rows) > _SESSIONS:
            lines.append(f"… {len(rows) - _SESSIONS} more; narrow it down with app, status or find")
        return join_lines(lines if rows else [*lines, "no sessions"])


def _session_line(row: Mapping[str, Any]) -> str:
    about = f"{row['app']}, {quantity(row['events'], 'event')}"
    going = ", run active" if row["run"] else ""
    note = f", note: {short(one_line(row['note']))}" if row.get("note") else ""
    tags = f", tags: {one_line(', '.join(row['tags']))}" if row.get("tags") else ""
    return f"session {row['key']} ({about}{going}{tags}{note}) {one_line(row['title'])}".rstrip()


def _matches(answer: Mapping[str, Any]) -> str:
    lines = []
    for each in answer["sessions"]:
        lines.append(f"session {each['key']} ({each['app']}) {one_line(each['title'])}".rstrip())
        lines += [f"  {_hit_line(hit)}" for hit in each["hits"]]
        lines += ["  … more in this session"] if each["hasMore"] else []
    lines += ["… more in older sessions; make the filter narrower"] if answer["before"] else []
    return join_lines(lines or ["no event matches"])


def _hit_line(hit: Mapping[str, Any]) -> str:
    return f"#{hit['number']} {hit['kind']} {hit['author']}: {one_line(hit['excerpt'])}"


class WhatHappened(SessionTool):
    """Show how a session's runs ended or stand, errors with file:line, and its events in order.
    Begin here."""

    filter: str = ""
    """Such as tool:book, key:plan, is:error, kind:call, agent:planner, "a text"; - excludes"""
    after: int | None = None
    """Event number; shows those after it"""
    limit: int = Field(default=30, ge=1, le=200)

    def answer(self, client: Client) -> str:
        """Return the session, its runs, its events, and the position of an active run."""
        session = self.of(client)
        runs = client.runs(session["key"])
        lines = [_session_line(session)]
        lines += [f"… {quantity(len(runs) - _RUNS, 'earlier run')}"] if len(runs) > _RUNS else []
        lines += map(run_line, runs[-_RUNS:])
        lines += [line for run in runs[-1:] for line in traceback_lines(run)]
        rows, tail = list(self._rows(client, session)), list[str]()
        if runs and session["run"]:
            position = client.newest_run(session["key"])
            tail += position_lines(position)
        tail += map(question_line, client.questions(session["key"]))
        if self.after is not None:
            return join_lines([*lines, *tail, *rows], "use filter, after or limit")
        advice, head = "use after or filter", "\n".join(lines)
        return with_newest(rows, tail, noun="earlier line", advice=advice, head=head)

    def _rows(self, client: Client, session: Mapping[str, Any]) -> Iterator[str]:
        """Yield the last events, or those after one, and the number of others."""
        key, expression = session["key"], self.filter or None
        if self.after is None:
            rows = client.events(key, filter=expression, last=_ROWS)
            newest = rows[-self.limit :]
            first = rows[0]["number"] - 1 if rows and not self.filter else 0
            if rest := first + len(rows) - len(newest):
                yield f"… {quantity(rest, 'earlier event')}: use after=0, or filter"
            yield from map(row_line, newest)
        else:
            rows = client.events(key, filter=expression, after=self.after, limit=self.limit + 1)
            yield from map(row_line, rows[: self.limit])
            if len(rows) > self.limit:
                rest = session["events"] - rows[self.limit - 1]["number"]
                many = "more events" if self.filter else quantity(rest, "more event")
                yield f"… {many}: use after={rows[self.limit - 1]['number']}"
        if not rows:
            yield f"no event matches {self.filter}" if self.filter else "no events"


class ShowEvent(SessionTool):
    """Show one event in full, or one value inside it."""

    event: int
    path: str = ""
    """Place in the event, such as content.parts[0].functionResponse.response"""
    start: int = Field(default=0, ge=0)
    """First character to show"""

    def answer(self, client: Client) -> str:
        """Return the event as JSON, from `start` on."""
        value = _at(client.event(self.key_of(client), self.event), self.path)
        text = value if isinstance(value, str) else as_json(value)
        return cut(text, "use path, or start for the rest", start=self.start)


_STEP: Final = re.compile(r"\[(\d+)\]|\[\"([^\"]*)\"\]|\.?([^.\[\]]+)")


def _at(value: Any, path: str) -> Any:
    """Return the value at a path such as `content.parts[0].text`. Raises NotFoundError."""
    for step in _STEP.finditer(path):
        index, name = step[1], step[3] if step[2] is None else step[2]
        if not isinstance(value, Mapping | list):
            whole = short_json(value, _TEXT_LENGTH)
            raise NotFoundError(f"nothing at {step[0]!r} of {path!r}: {whole} has no members")
        member: Any = int(index) if index else name
        try:
            value = value[member]
        except (IndexError, KeyError, TypeError) as error:
            members = value if isinstance(value, Mapping) else range(len(value))
            there = ", ".join(map(str, list(members)[:_SESSIONS])) or "none"
            raise NotFoundError(
                f"nothing at {step[0]!r} of {path!r}; available: {there}"
            ) from error
    return value


class StateAt(SessionTool):
    """Show the state now, as of an event, or what changed since one; with key, its value, every
    write and who made it."""

    event: int | None = None
    """As of this event"""
    since: int | None = None
    """Only changes after this event; 0 is the beginning"""
    key: str | None = None
    path: str = ""
    """Place in the key's value, such as steps[2].done"""
    start: int = Field(default=0, ge=0)
    """First character of the value to show"""

    def answer(self, client: Client) -> str:
        """Return one line per key, change or write."""
        session = self.key_of(client)
        answer = client.state(session, at=self.event, from_=self.since)
        if self.key is None:
            if self.path or self.start:
                raise BadRequestError("path and start are of a key's value: name the key")
            return join_lines(_state_lines(answer, self.since), "name a key")
        lines = [self._value(each) for each in answer["values"] if each["key"] == self.key]
        if lines and self.start:
            return join_lines(lines)
        history = client.key_history(session, self.key, path=self.path or None, at=self.event)
        writes = history["writes"]
        lines += [_pending(each) for each in answer["pending"] if each["key"] == self.key]
        rest = len(writes) - _WRITES
        lines += [f"… {quantity(rest, 'earlier write')}: use event"] if rest > 0 else []
        lines += [line for write in writes[-_WRITES:] for line in _write_lines(write)]
        if not lines:
            raise NotFoundError(f"no state key {self.key}: call state_at without key")
        return join_lines(lines, "use event for fewer writes")

    def _value(self, value: Mapping[str, Any]) -> str:
        """Return the key's value, or the part of it at `path`. Raises NotFoundError."""
        try:
            part = _at(value["value"], self.path)
        except NotFoundError as error:
            raise NotFoundError(f"{error.message}; use event for an earlier value") from error
        most = _VALUE if self.path or self.start else _BLOCK
        text = cut(as_json(part), "use path, or start for the rest", most=most, start=self.start)
        return f"{self.key} {self.path}".rstrip() + f" = {text}"


def _state_lines(answer: Mapping[str, Any], since: int | None) -> Iterator[str]:
    if since is not None:
        for change in answer["changes"]:
            yield f"{change['key']} {_change(change)} {_by(change)}"
        if not answer["changes"]:
            yield "nothing changed"
        return
    for value in answer["values"]:
        yield f"{value['key']} = {short_json(value['value'])} {_by(value)}"
    yield from map(_pending, answer["pending"])
    if not (answer["values"] or answer["pending"]):
        yield "the state is empty"


def _pending(change: Mapping[str, Any]) -> str:
    return f"{change_line(change)} (pending, not committed)"


def _change(change: Mapping[str, Any]) -> str:
    old = short_json(change["old"]) if "old" in change else "nothing"
    return f"{old} → {short_json(change['new']) if 'new' in change else 'nothing'}"


def _by(write: Mapping[str, Any]) -> str:
    return f"(#{write['number']})" if write["number"] else f"({write['writer']})"


def _write_lines(write: Mapping[str, Any]) -> Iterator[str]:
    author = f" {write['author']}" if write["author"] else ""
    tools = f" via {', '.join(write['tools'])}" if write["tools"] else ""
    others = [f"also written by {each} at the same time" for each in write["overlaps"]]
    edits = [f"{each['action']} by {each['by']}" for each in write["edits"]]
    for change in write["changes"] or ({"path": "", **write},):
        place = f" {change['path']}" if change["path"] else ""
        yield f"{_by(write)}{author}{tools}{place}: {_change(change)}"
    yield from (f"  {each}" for each in (*edits, *others))


class PromptAt(SessionTool):
    """Show the prompt that a model answered with an event, or a tool call's arguments and result;
    or how the prompt differs from the agent's previous one."""

    event: int
    diff: bool = False
    compare_with: int | None = None
    """Event to compare with, instead of the previous call"""
    path: str = ""
    """Place in the call, such as system or contents[2]"""
    start: int = Field(default=0, ge=0)
    """First character to show"""

    def answer(self, client: Client) -> str:
        """Return what was sent, in blocks; or the blocks that differ; or the text at `path`."""
        key = self.key_of(client)
        spans = _spans(client, key, self.event)
        if self.diff or self.compare_with is not None:
            other = None
            if self.compare_with is not None:
                other = _model_span(_spans(client, key, self.compare_with))
            return _difference(client.compare_prompts(key, _model_span(spans), with_=other))
        models = [each for each in spans if each["type"] == "model"]
        calls = [client.span(key, each["id"]) for each in models[-1:] or spans]
        if self.path or self.start:
            return self._part([_call_value(each) for each in calls])
        places = [""] if len(calls) == 1 else [f"[{index}]." for index in range(len(calls))]
        lines = [
            line
            for place, each in zip(places, calls, strict=True)
            for line in _sent_lines(each, place)
        ]
        return join_lines(lines, "use path, such as contents[2]")

    def _part(self, calls: Sequence[Any]) -> str:
        """Return the text at `path`, which starts at the call or, if several, at a list of them."""
        value = _at(calls[0] if len(calls) == 1 else calls, self.path)
        text = _words(value) if isinstance(value, str) or _is_content(value) else as_json(value)
        return cut(text, "use start for the rest", start=self.start)


def _spans(client: Client, session: int, event: int) -> Sequence[Mapping[str, Any]]:
    """Return the calls that produced an event.

    Raises NotFoundError if there are none; its message says where the event came from.
    """
    spans = client.spans(session, event=event)
    if not spans:
        body = client.event(session, event)
        why = "it came of no call of a model or tool; use show_event"
        if body.get("author") == "user":
            why = "the user sent it; use show_event"
        elif body.get("errorCode") or body.get("errorMessage"):
            why = "it is an error, not an answer; what_happened shows where it was raised"
        raise NotFoundError(f"#{event} has no prompt: {why}")
    return spans


def _model_span(spans: Sequence[Mapping[str, Any]]) -> int:
    models = [each["id"] for each in spans if each["type"] == "model"]
    if not models:
        raise BadRequestError("a tool made this event, so there is no prompt to compare")
    return int(models[-1])


def _call_value(span: Mapping[str, Any]) -> Any:
    """Return what was sent to a model, or a tool's arguments with its result or error."""
    if span["type"] == "model":
        return span["sent"]
    outcome = {"error": span["error"]} if span["error"] else {"result": span["result"]}
    return {"tool": span["name"], "arguments": span["sent"], **outcome}


def _is_content(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("parts"), list)


def _block(text: str, path: str) -> str:
    """Truncate a text of a call, and say which argument shows the rest."""
    return cut(text, f"use path={path}", most=_BLOCK)


def _sent_lines(span: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield what was sent in one call; `place` is the prefix of the paths in it."""
    payload = span["sent"]
    if span["type"] != "model":
        yield f"tool {span['name']} called by {span['agent']}"
        yield f"arguments: {_block(as_json(payload), f'{place}arguments')}"
        result = f"result: {_block(as_json(span['result']), f'{place}result')}"
        yield f"error: {span['error']}" if span["error"] else result
        return
    if payload is None:
        yield "the request was not recorded"
        return
    yield f"model {payload['model'] or span['name']} asked by {span['agent']}"
    if payload["system"]:
        yield f"system: {_block(_words(payload['system']), 'system')}"
    names = [
        each["name"]
        for tool in payload["tools"] or ()
        for each in tool.get("functionDeclarations", ())
    ]
    if names:
        yield f"tools: {', '.join(names)}"
    if payload["config"]:
        yield f"config: {cut(as_json(payload['config']), 'use path=config', most=_CONFIG)}"
    for index, content in enumerate(payload["contents"]):
        role = content.get("role") or "message"
        yield f"{role}: {_block(_words(content), f'contents[{index}]')}"


def _words(value: Any) -> str:
    """Return the texts of a content, and its other parts as JSON."""
    parts = value.get("parts") or () if isinstance(value, Mapping) else (value,)
    texts = (part if isinstance(part, str) else part.get("text") or as_json(part) for part in parts)
    return "\n".join(texts)


_SIGNS: Final = {"added": "+", "removed": "-", "changed": "≠"}


def _difference(answer: Mapping[str, Any]) -> str:
    """Return what differs, and the number of blocks that are the same."""
    event = answer["withEvent"]
    lines = [f"compared with the prompt of #{event}" if event else "compared with an earlier call"]
    lines += [answer["verdict"]] if answer["verdict"] else []
    same = 0
    for name in ("blocks", "tools", "config"):
        for block in answer[name]:
            if block["kind"] == "same":
                same += 1
                continue
            lines.append(f"{_SIGNS[block['kind']]} {block['label']}")
            lines += [_piece(each) for each in block["pieces"] if each["kind"] != "same"]
    verb = "is" if same == 1 else "are"
    return join_lines([*lines, f"{quantity(same, 'block')} {verb} the same"])


def _piece(piece: Mapping[str, Any]) -> str:
    text = piece["text"].strip("\n") or piece["text"]
    return f"  {_SIGNS[piece['kind']]} {short(one_line(text), text=_BLOCK)}"


class WhyStuck(SessionTool):
    """Show what a run waits for: active calls with file:line, tasks, holds, deadlocks, questions to
    a person, a blocked event loop."""

    def answer(self, client: Client) -> str:
        """Return the run's activity, shortened."""
        session = self.of(client)
        position = client.newest_run(session["key"])
        activity: dict[str, Any] = {**client.activity(position["run"])}
        lines = [*position_lines(position)]
        if activity["lastProgress"]:
            lines.append(f"no progress for {activity['silentSeconds']:.1f} s")
        parts = ("blocked", "calls", "tasks", "deadlocks", "questions")
        activity["tasks"] = [_task(each) for each in activity["tasks"]]
        lines += [f"{part}: {as_json(short(activity[part]))}" for part in parts if activity[part]]
        return join_lines(lines)


def _task(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return the task with only those places that are in the app's code."""
    return {**task, "places": [place for place in task["places"] if place["own"]]}
