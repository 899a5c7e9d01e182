"""One replay: answers the calls of a run from its recording and detects where they differ."""

import ast
import builtins
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Literal, NoReturn

from google.genai import types

from devui.runtime.mistakes import message_of
from devui.wire.gates import Verdict
from devui.wire.recordings import Divergence, RecordedCall, Recording, ReplayVerdict
from devui.worker.engines.kit import Context, Event, Kit, LlmRequest, LlmResponse
from devui.worker.json_text import apply_effects, as_json
from devui.worker.replay.call_tree import CallTree, CommitCounter, call_summary
from devui.worker.replay.comparison import (
    CurrentRequest,
    ExpectedEvents,
    Ids,
    by_hand,
    diff_text,
    differences,
    other_result,
    request_in_full,
)
from devui.worker.replay.interventions import RecordedEdits


class ReplayEnd(Exception):
    """The replay has ended early."""


class Diverged(ReplayEnd):
    """The first difference between the replay and the recording."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.message)
        self.divergence = divergence


class RecordingEnds(ReplayEnd):
    """Everything that was recorded has been replayed."""


def recorded_error(text: str) -> Exception:
    """Return the exception that a recorded call raised, from `Type: message`.

    A built-in exception keeps its type; any other gets a new type with the same name.
    """
    name, _, message = text.partition(": ")
    if name == "KeyError":
        return _key_error(message)
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            error: Exception = kind(message)
        except TypeError:  # UnicodeError and similar types need more than a message
            pass
        else:
            return error
    if not name.isidentifier():
        return RuntimeError(text)
    stand_in: Exception = type(name, (Exception,), {})(message)
    return stand_in


def _key_error(message: str) -> KeyError:
    """Return a KeyError from the repr of a key and notes; any other text is the key itself."""
    key, _, notes = message.partition("\n")
    try:
        error = KeyError(ast.literal_eval(key))
    except (ValueError, SyntaxError):
        return KeyError(message)
    if notes:
        error.add_note(notes)
    return error


_Difference = tuple[Literal["end", "fragment"], str, dict[str, Any]]
"""What differs, a sentence about it, and further fields of a Divergence."""


def other_ends(
    recording: Recording,
    committed: int,
    came: tuple[str, str | None],
    *,
    next_call: RecordedCall | None,
    missed: list[dict[str, Any]],
) -> Iterator[_Difference]:
    """Yield the differences at the end of the run, the most important first.

    The run committed `committed` events and `came` to this outcome and error. `next_call` and
    `missed` are a recorded call and recorded fragments that did not occur.
    """
    outcome, error = came
    if came != (recording.outcome, recording.error):
        expected, actual = recording.error or recording.outcome, error or outcome
        message = f"The run ended differently than recorded: {actual}."
        yield "end", message, {"expected": expected, "actual": actual}
    if committed < len(recording.events):
        missing = recording.events[committed]
        author, number = missing.get("author"), recording.first + committed
        message = f"The run ended before the recorded event #{number} of {author}."
        yield "end", message, {"agent": author, "expected": missing}
    if next_call is not None:
        message = (
            f"The run ended without the recorded call of {next_call.name} by {next_call.agent}."
        )
        yield "end", message, {"agent": next_call.agent, "expected": call_summary(next_call)}
    if missed:
        author = missed[0].get("author")
        message = f"{author} streamed fewer chunks than recorded."
        yield "fragment", message, {"agent": author, "expected": missed[0]}


class RecordedFiles:
    """Saves the files that a tool saved when its result was recorded."""

    def __init__(self, recording: Recording) -> None:
        self._parts = {(file.name, file.version): file.part for file in recording.files}

    async def save(self, context: Context, delta: dict[str, int]) -> None:
        """Save the versions of an `artifactDelta`; if a file is gone, only set its version."""
        for name, version in delta.items():
            part = self._parts.get((name, version))
            if part is None:
                context.actions.artifact_delta[name] = version
            else:
                artifact = types.Part.model_validate_json(json.dumps(part))
                await context.save_artifact(name, artifact)


def recorded_summary(
    kit: Kit, recorded: dict[str, Any], events: Sequence[Event], ids: Ids
) -> Event:
    """Return the recorded summary, with the replay's ids and the times of these events."""
    fields = {name: value for name, value in recorded.items() if name not in {"id", "timestamp"}}
    event = kit.read_event(ids.actual(json.dumps(fields)))
    if event.actions.compaction is not None:
        event.actions.compaction.start_timestamp = min(each.timestamp for each in events)
        event.actions.compaction.end_timestamp = max(each.timestamp for each in events)
    return event


CUT_OFF = frozenset({"stopped", "interrupted"})
"""Outcomes of a recorded run that its code did not bring about."""


class Replay:
    """Stands between the code of one run and its models and tools."""

    def __init__(
        self,
        recording: Recording,
        session: str,
        kit: Kit,
        *,
        live_tools: bool = False,
        tolerant: bool = False,
        anywhere: bool = False,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        """Replay a recording in the session with this id.

        If `tolerant`, the replay only notes the first difference and continues as long as there are
        answers. `anywhere` is that of `CallTree`. `busy` returns whether the run waits for
        something outside, such as a person at a gate.
        """
        self.recording = recording
        self.session = session
        self._kit = kit
        self.live_tools = live_tools
        self.ids = Ids()
        self.expected = ExpectedEvents(recording, self.ids, live_tools=live_tools)
        self.commits = CommitCounter(lambda: busy() or self._committing or self._executing > 0)
        self._tree = CallTree(recording, anywhere=anywhere)
        self.recorded_edits = RecordedEdits(recording, self.ids, self.expected, self._tree.turns)
        self._files = RecordedFiles(recording)
        self._executing = 0
        """The number of tools being called live."""
        self._committing = False
        self._event_ids: set[str] = set()
        self._results_differ = False
        """Whether a live tool returned something other than recorded."""
        self._answer_count = 0
        self._live = 0
        self._notes: list[str] = []
        self._end: ReplayEnd | None = None
        self._tolerant = tolerant
        self._first_divergence: Divergence | None = None

    @property
    def cut_off(self) -> bool:
        """Whether the recorded run was cut off."""
        return self.recording.outcome in CUT_OFF

    # --- agents ----------------------------------------------------------------------------

    def agent(self, parent: int | None, name: str, branch: str | None) -> int:
        """Return the recorded number of an agent's run; -1 if it wasn't recorded."""
        self.check()
        self.commits.progress()
        call = self._tree.agent(parent, name, self.ids.recorded(branch))
        return call.number if call else -1

    def first_sight(self, event: str) -> bool:
        """Return whether this is the first call with the event's id."""
        is_known = event in self._event_ids
        self._event_ids.add(event)
        return not is_known

    async def turn(self, agent: int, author: str, branch: str | None) -> None:
        """Wait until all events before the next one of this agent's run are committed."""
        place = self.expected.place_of_next(author, branch)
        if place is None:  # not recorded; perhaps other code cancelled the agent before this event
            place = len(self.recording.events) + self._tree.is_open(agent)
        await self.commits.wait_for(place)
        self.check()

    async def failing(self, error: Exception) -> None:
        """Wait for all recorded events if this error of an agent ended the recorded run."""
        text = f"{type(error).__name__}: {message_of(error)}"
        if not isinstance(error, ReplayEnd) and text == self.recording.error:
            await self.commits.wait_for(len(self.recording.events))

    # --- calls -----------------------------------------------------------------------------

    async def model(
        self, parent: int | None, context: Context, request: LlmRequest, *, stream: bool
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the recorded responses. Raises what the model raised, and ReplayEnd."""
        self.check()
        agent, branch = context.agent_name, self.ids.recorded(context.branch)
        call = self._tree.model(parent, agent, branch)
        if call is None:
            await self._broken_off(parent)
            self._unexpected(
                "model", context, CurrentRequest(request, stream=stream).in_full(self.ids)
            )
        self._compare_request(call, request, stream=stream, context=context)
        async with aclosing(self.responses(call)) as responses:
            async for response in responses:
                yield response

    async def responses(self, call: RecordedCall) -> AsyncGenerator[LlmResponse, None]:
        """Yield the responses of a model call. Raises what the model raised, and ReplayEnd."""
        self._answer_count += 1
        for _, response in call.responses:
            if not response.get("partial"):
                await self._in_turn(call)
            elif not self.expected.streams(call):
                break  # the recorded stream was cut off here
            yield self._kit.llm_response.model_validate_json(json.dumps(response))
        await self._finish(call)

    async def tool(
        self, parent: int | None, context: Context, name: str, args: dict[str, Any]
    ) -> RecordedCall:
        """Return the recorded call. Raises ReplayEnd if none has these arguments."""
        self.check()
        self.commits.progress()
        branch = self.ids.recorded(context.branch)
        call_id = self.ids.recorded(context.function_call_id)
        call = self._tree.tool(parent, branch, name=name, call=call_id)
        actual = json.loads(as_json(args))
        if call is None:
            await self._broken_off(parent)
            self._unexpected("tool", context, {"tool": name, "args": actual})
        diffs = differences(call.args, actual)
        if diffs:
            agent, actual_call = context.agent_name, {"tool": name, "args": actual}
            self.differ(
                "tool",
                f"{agent} called {name} with different arguments than recorded: {diff_text(diffs)}",
                context=context,
                expected={**actual_call, "args": call.args},
                actual=actual_call,
                differences=diffs,
            )
        return call

    async def answer(self, call: RecordedCall, context: Context) -> Any:
        """Return a tool's recorded result and apply its effects, or raise its recorded error."""
        self._answer_count += 1
        self._tree.skip_inside(call)
        await self._in_turn(call)
        effects = json.loads(self.ids.actual(json.dumps(call.effects)))
        apply_effects(self._kit, context, effects)
        await self._files.save(context, effects.get("artifactDelta") or {})
        await self._finish(call)
        return call.result

    async def live(self, call: RecordedCall, proceed: Callable[[], Any], *, real: bool) -> Any:
        """Execute a tool; `real` if it acts on the world, and doesn't only run agents."""
        self._live += real
        self._executing += real
        try:
            result = await proceed()
        finally:
            self._executing -= real
        diffs = differences(call.result, json.loads(as_json(result))) if real else []
        if diffs:
            self._results_differ = True
            self._notes.append(other_result(call, diffs[0]))
        return result

    # --- events ----------------------------------------------------------------------------

    def event(self, text: str) -> Verdict | None:
        """Compare an event, as JSON text, before it is committed. Raises ReplayEnd.

        If a person changed it in the recorded run, return their verdict; the comparison waits until
        that is done.
        """
        self.check()
        place, actual = self.commits.count, json.loads(text)
        if verdict := self.recorded_edits.of_event(place, actual):
            return verdict
        number, author = self.recording.first + place, actual.get("author")
        if place >= len(self.recording.events):
            if self.cut_off:
                self._recording_ends()
            self.differ(
                "end",
                f"The recorded run ended after #{number - 1}, but {author} yielded another event.",
                agent=author,
                actual=actual,
            )
        diffs = self.expected.event(place, actual) if place < len(self.recording.events) else []
        if diffs:
            expected = self.recording.events[place]
            self.differ(
                "event",
                f"Event #{number} of {author} differs from the recorded one of"
                f" {expected.get('author')}: {diff_text(diffs)}"
                f"{by_hand(expected)}",
                agent=author,
                expected=expected,
                actual=actual,
                differences=diffs,
            )
        self._committing = True
        return None

    def committed(self) -> None:
        """Continue after the commit of the event that was compared last."""
        self._committing = False
        self.commits.advance()

    def dropped(self) -> None:
        """Continue without the event that was compared last: a person dropped it."""
        if self._committing:  # otherwise it was also dropped in the recorded run
            self._notes.append("a person dropped an event")
        self._committing = False

    def fragment(self, text: str) -> None:
        """Compare a partial event, as JSON text. Raises ReplayEnd."""
        self.check()
        self.commits.progress()
        actual = json.loads(text)
        expected, diffs = self.expected.fragment(actual)
        if self.cut_off and expected is None:
            return  # the last fragments before a cutoff may not have been stored
        if expected is None or diffs:
            author, place = actual.get("author"), self.recording.first + self.commits.count
            message = f"{author} streamed a different chunk for #{place} than recorded."
            about = {"agent": author, "expected": expected, "actual": actual}
            self.differ("fragment", message, **about, differences=diffs)

    def summary(self, events: Sequence[Event]) -> Event | None:
        """Return the recorded summary for these events if it comes next. Raises ReplayEnd."""
        self.check()
        place, recorded = self.commits.count, self.recording.events
        event = recorded[place] if place < len(recorded) else {}
        compacts = (event.get("actions") or {}).get("compaction")
        return recorded_summary(self._kit, event, events, self.ids) if compacts else None

    def connection(self, target: str) -> NoReturn:
        """Refuse a connection, since a replay reaches nothing live. Raises Diverged."""
        message = f"The agent's code tried to connect to {target}; replays make no live calls."
        self.diverge("network", message, actual=target)

    # --- the end ---------------------------------------------------------------------------

    def check(self) -> None:
        """Raise ReplayEnd if the replay has ended early."""
        if self._end is not None:
            raise self._end

    def differ(self, what: Any, message: str, **more: Any) -> None:
        """Note a difference if the replay is tolerant, else end the replay. Raises Diverged."""
        if not self._tolerant:
            self.diverge(what, message, **more)
        self._first_divergence = self._first_divergence or self._divergence(what, message, more)

    def diverge(self, what: Any, message: str, **more: Any) -> NoReturn:
        """End the replay at its first divergence. Raises Diverged."""
        self.check()
        self._end = Diverged(self._divergence(what, message, more))
        self.commits.open()
        raise self._end

    def _divergence(self, what: Any, message: str, more: dict[str, Any]) -> Divergence:
        context: Context | None = more.pop("context", None)
        if context is not None:
            more |= {"agent": context.agent_name, "branch": context.branch}
        return Divergence(what=what, message=message, place=self.commits.count, **more)

    @property
    def end(self) -> ReplayEnd | None:
        """What ended the replay early; None if nothing did."""
        return self._end

    def verdict(self, outcome: str, error: str | None) -> ReplayVerdict:
        """Return the result; `outcome` and `error` are those of the run, as in a Recording."""
        self._check_end(outcome, error)
        end = self._end
        divergence = self._first_divergence or (
            end.divergence if isinstance(end, Diverged) else None
        )
        stopped = outcome == "stopped" and end is None
        if stopped:
            self._notes.append("the replay was stopped early")
        return ReplayVerdict(
            identical=not (stopped or divergence or self._results_differ),
            events=min(self.commits.count, len(self.recording.events)),
            recorded=len(self.recording.events),
            calls=self._answer_count,
            live=self._live,
            results_differ=self._results_differ,
            notes=list(dict.fromkeys(self._notes)),
            divergence=divergence,
        )

    def _check_end(self, outcome: str, error: str | None) -> None:
        """Note how the run's end differs from the recorded one."""
        if self._end is not None or outcome == "stopped" or self.cut_off:
            return
        ends = other_ends(
            self.recording,
            self.commits.count,
            (outcome, error),
            next_call=None if self.live_tools else next(self._tree.remaining(), None),
            missed=self.expected.fragments_left(),
        )
        try:
            for what, message, more in ends:
                self.differ(what, message, **more)
        except Diverged:
            return

    # --- inside ----------------------------------------------------------------------------

    def _compare_request(
        self, call: RecordedCall, request: LlmRequest, *, stream: bool, context: Context
    ) -> None:
        self.commits.progress()
        actual = CurrentRequest(request, stream=stream)
        if call.request is None:
            self._notes.append(f"a request of {call.agent} was too large to record")
            return
        if actual.request == call.request:
            return
        expected = request_in_full(call.request, self.recording.pieces)
        report = actual.other_than(expected, self.ids, with_content=not self._results_differ)
        if report:
            fields = diff_text(report["differences"])
            message = f"{call.agent} sent its model a different request than recorded: {fields}"
            self.differ("model", message, context=context, **report)

    def _unexpected(
        self, what: Literal["model", "tool"], context: Context, actual: Any
    ) -> NoReturn:
        if self.cut_off and self.commits.count >= len(self.recording.events):
            self._recording_ends()
        nearest = self._tree.next_of(context.agent_name)
        action = f"called {actual['tool']}" if what == "tool" else "called its model once more"
        coming = self.recording.events[self.commits.count :][:1]
        hand = by_hand(coming[0]) if coming else ""
        self.diverge(
            what,
            f"{context.agent_name} {action}; no such call was recorded at this point.{hand}",
            context=context,
            actual=actual,
            nearest=call_summary(nearest) if nearest else None,
        )

    async def _broken_off(self, agent: int | None) -> None:
        """Wait to be cancelled if the recorded run of this agent was cut off before this call."""
        if self._tree.is_open(agent) and not self.cut_off:
            await self.commits.wait_for(len(self.recording.events) + 1)
            self.check()

    async def _in_turn(self, call: RecordedCall) -> None:
        """Wait until the call would have returned, judging by the events around it."""
        place = call.event
        if place is None and not self._tree.within_tool(call):
            # The call produced no event: it came too late, or failed. Earlier events precede it.
            place = self.expected.place_ahead(call.agent, call.branch)
        if place is not None:
            await self.commits.wait_for(place)
        self.check()

    async def _finish(self, call: RecordedCall) -> None:
        """End as the recorded call did."""
        if call.open:
            await self._never(call)
        if call.error is not None:
            await self._in_turn(call)
            raise recorded_error(call.error)

    async def _never(self, call: RecordedCall) -> None:
        """Handle a recorded call that never returned: it was cancelled, or the run ended first."""
        await self.commits.wait_for(len(self.recording.events) + (not self.cut_off))
        self.check()
        if self.cut_off:
            self._recording_ends()
        message = (
            f"{call.name} of {call.agent} was cancelled in the recorded run, but not in this one."
        )
        self.diverge("end", message, agent=call.agent, expected=call_summary(call))

    def _recording_ends(self) -> NoReturn:
        self._end = RecordingEnds("the recording ends here")
        self.commits.open()
        raise self._end
