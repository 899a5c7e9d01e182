"""Tools that act: send messages, control and change runs, set breakpoints, fork."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from devui.client import Client
from devui.failures import BadRequestError, ConflictError, NotFoundError
from devui.mcp.answers import as_json, join_lines, outcome, quantity, short_json
from devui.mcp.tool import SessionTool, Tool, known_app
from devui.wire.merge_patch import merge, merge_edit

if TYPE_CHECKING:
    from devui.debugger.stepping.commands import CommandName

_SECONDS: Final = 45.0
"""How long a tool waits for a run, in seconds; clients give up on a call after a minute."""
_GOING: Final = frozenset({"running", "held", "stopping"})


def follow(client: Client, position: Any, before: int) -> str:
    """Wait until a run that was started or continued is held or over, and return the outcome."""
    return outcome(client, client.wait(position, seconds=_SECONDS), before)


class SendMessage(SessionTool):
    """Send a message to an agent and wait until its run ends or is held; or answer its question."""

    reads: ClassVar[bool] = False
    message: str = ""
    app: str | None = None
    """Start a new session of this app"""
    pause: bool = False
    """Hold the run before its first event"""
    answers: dict[str, str] | None = None
    """Values of the fields of the open question, instead of message"""

    def answer(self, client: Client) -> str:
        """Return the events of the run, and its position."""
        if self.answers is not None:
            return self._answer_question(client)
        if not self.message:
            raise BadRequestError("give message, or answers to a question")
        session = client.new_session(self.app) if self.app else self.of(client)
        before = _newest(client, session["key"])
        position = client.start_run(session["key"], message=self.message, pause=self.pause)
        return follow(client, position, before)

    def _answer_question(self, client: Client) -> str:
        key = self.key_of(client)
        questions = client.questions(key)
        if not questions:
            raise BadRequestError(f"session {key} asks nothing; use message")
        before = _newest(client, key)
        question = questions[0]
        position = client.answer_question(
            key, question["event"], question["call"], fields=self.answers
        )
        return follow(client, position, before)


_ORDERS: "Final[Mapping[str, CommandName]]" = {
    "continue": "continue",
    "step": "step_event",
    "half": "step_half",
    "into": "step_into",
    "out": "step_out",
    "pause": "pause",
    "finish": "stop_after_event",
    "stop": "stop",
    "edit": "edit",
    "mock": "mock",
    "reject": "reject",
    "skip": "skip",
    "drop": "drop",
    "undo": "undo",
}
"""The server's names of the commands."""
_CALLS: Final[Mapping[str, Literal["end", "answer"]]] = {"end_call": "end", "answer_call": "answer"}
_CHANGES: Final = frozenset({"edit", "mock", "reject", "skip", "drop", "undo"})
"""Commands that don't move the run."""
_DECISIONS: Final = ("run", "fail", "recorded", "wait")


class ControlRun(SessionTool):
    """Move a held run: continue; step (next commit), half, into, out; pause; finish (after this
    event), stop. Change what is held, then continue: edit (value is merged into the held event,
    arguments, request or result: null removes a member, lists are replaced), mock (value is the
    model's or tool's answer), reject, skip, drop, undo. End a hanging call: end_call, answer_call.
    Continue a failed, stopped or interrupted run, with the agent's current code: resume (value
    decides about calls without a result: {call id: "run" | "fail" | "recorded" | {result}})."""

    reads: ClassVar[bool] = False
    command: Literal[
        "continue",
        "step",
        "half",
        "into",
        "out",
        "pause",
        "finish",
        "stop",
        "edit",
        "mock",
        "reject",
        "skip",
        "drop",
        "undo",
        "end_call",
        "answer_call",
        "resume",
    ]
    value: Any = None
    hold: int | None = None
    """One of several holds"""
    call: str | None = None
    """Id or name, from why_stuck"""
    position: int | None = None
    """Refuse if the run has moved on from here"""

    def answer(self, client: Client) -> str:
        """Return what was committed since, and the run's new position."""
        session = self.of(client)["key"]
        at = client.newest_run(session)
        before = _newest(client, session)
        if self.command == "resume":
            return follow(client, self._resume(client, session, at), before)
        if at["status"] not in _GOING:
            use = "send_message or fork" if at["status"] == "done" else "resume or send_message"
            raise ConflictError(f"the run is already {at['status']}; use {use}", at)
        if self.command in _CALLS:
            if self.call is None:
                raise BadRequestError(
                    f"{self.command} needs call: the id or name of a call in why_stuck"
                )
            order, call = _CALLS[self.command], _call(self.call)
            position = client.end_call(at["run"], order, call, value=self.value)
            return follow(client, position, before)
        position = client.command(
            at["run"],
            _ORDERS[self.command],
            position=at["position"] if self.position is None else self.position,
            hold=self.hold,
            value=self._value(at),
        )
        if self.command in _CHANGES:
            return outcome(client, position, before)
        return follow(client, position, before)

    def _value(self, position: Mapping[str, Any]) -> Any:
        if self.command != "edit":
            return self.value
        return merge_edit(position["holds"], self.hold, self.value)

    def _resume(self, client: Client, session: int, at: Mapping[str, Any]) -> Any:
        """Resume the newest invocation. Raises BadRequestError, which lists the calls to decide."""
        if at["invocationId"] is None:
            raise BadRequestError("the run ended before its message was committed: send it again")
        try:
            return client.start_run(
                session, invocation_id=at["invocationId"], unknown=_decisions(self.value)
            )
        except ConflictError as conflict:
            if not conflict.unknown:
                raise
            lines = [f"  {_unknown(call)}" for call in conflict.unknown]
            head = "these calls have no committed result; decide about each in value:"
            raise BadRequestError("\n".join([head, *lines])) from conflict


def _call(name: str) -> int | str:
    return int(name) if name.isdecimal() else name


def _decisions(value: Any) -> dict[str, Any] | None:
    """Return the decisions about calls without a result. Raises BadRequestError."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadRequestError('value must be an object such as {"call id": "run"}')
    return {
        call: {"do": what} if what in _DECISIONS else {"do": "result", "result": what}
        for call, what in value.items()
    }


def _unknown(call: Mapping[str, Any]) -> str:
    result = call["recorded"]
    about = "outcome unknown" if result is None else f"returned {short_json(result)}"
    args = short_json(call["args"])
    return f"{call['id']}: {call['tool']}({args}), {about if call['ran'] else 'never made'}"


def _newest(client: Client, session: int) -> int:
    """Return the number of the session's last event; 0 if it has none."""
    rows = client.events(session, last=1)
    return int(rows[-1]["number"]) if rows else 0


class Breakpoints(Tool):
    """List, add or remove an app's breakpoints, which hold its runs (with log, only log)."""

    reads: ClassVar[bool] = False
    action: Literal["list", "add", "remove"]
    app: str | None = None
    """Needed if there are several"""
    on: (
        Literal[
            "tool",
            "state",
            "event",
            "model",
            "agent",
            "error",
            "transfer",
            "final",
            "human",
            "artifact",
            "escalate",
            "budget",
        ]
        | None
    ) = None
    name: str = "*"
    """Tool, state key, event kind…; * matches anything"""
    agent: str = "*"
    condition: str = ""
    """Such as new < 0, args.price > 500, run.tokens > 20000"""
    after: bool = False
    """After the commit or call, not before"""
    log: str = ""
    """Line to log instead of holding; {key} is filled in"""
    number: int | None = None
    """To remove"""

    def answer(self, client: Client) -> str:
        """Return the app's breakpoints after the action."""
        app = self._app(client)
        if self.action == "add":
            if self.on is None:
                raise BadRequestError("name what to break on in on")
            client.add_breakpoint(
                app,
                self.on,
                name=self.name,
                agent=self.agent,
                condition=self.condition,
                when="after" if self.after else "before",
                log=self.log,
            )
        elif self.action == "remove":
            if self.number is None:
                raise BadRequestError("give the number of the breakpoint to remove")
            if not client.delete_breakpoint(app, self.number)["deleted"]:
                raise NotFoundError(f"{app} has no breakpoint {self.number}: use action list")
        points = client.breakpoints(app)
        return join_lines(map(_point, points) if points else ["no breakpoints"])

    def _app(self, client: Client) -> str:
        apps = client.adk.list_apps()
        if self.app is not None:
            return known_app(self.app, apps)
        if len(apps) != 1:
            raise BadRequestError(f"name the app, one of {', '.join(apps)}")
        return str(apps[0])


def _point(point: Mapping[str, Any]) -> str:
    members = {name: point[name] for name in ("agent", "condition", "hit", "log") if point[name]}
    members = {name: value for name, value in members.items() if value != "*"}
    state = "" if point["enabled"] else ", disabled"
    about = f"{point['when']} {point['on']}:{point['name']}"
    details = f" {as_json(members)}" if members else ""
    actor = f", set by {point['actor']}" if point.get("actor") else ""
    return f"{point['id']}: {about}{details}, {quantity(point['hits'], 'hit')}{actor}{state}"


class Fork(SessionTool):
    """Copy a session up to an event, with one change, and run it from there. The original stays."""

    reads: ClassVar[bool] = False
    event: int
    """Last event of the copy; 0 for none"""
    message: str | None = None
    """Send this instead of the user's message at event"""
    state: dict[str, Any] | None = None
    """State keys to set"""
    change: dict[str, Any] | None = None
    """Merged into the last event: null removes a member, lists are replaced"""
    run: bool = True
    guard: Literal["ask", "recorded", "run"] = "ask"
    """Tools that ran in the original: hold, use the recorded result, or run again"""

    def answer(self, client: Client) -> str:
        """Return the new session, the events of its run, and the run's position."""
        source = self.key_of(client)
        event = None
        if self.change is not None:
            event = merge(client.event(source, self.event), self.change)
        fork = client.fork(
            source,
            self.event,
            message=self.message is not None,
            state=self.state,
            event=event,
            run=self.run and self.message is None,
            guard=self.guard,
        )
        head, key = f"made session {fork['key']}", fork["key"]
        before = _newest(client, key)
        if self.message is not None and self.run:
            position = client.start_run(key, message=self.message, guard=self.guard)
            return f"{head}\n{follow(client, position, before)}"
        if fork["run"] and fork["fork"]:
            position = client.run(fork["run"])
            return f"{head}\n{follow(client, position, fork['fork']['number'])}"
        detail = fork.get("detail")
        lines = [head, *([detail] if detail else [])]
        if fork["unknown"]:
            lines += ["not running; decide about these calls with control_run resume:"]
            lines += [f"  {_unknown(call)}" for call in fork["unknown"]]
        return join_lines(lines)
