"""One run that is executed again: answers its calls, and notices where it goes another way."""

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
from devui.worker.replay.call_tree import CallTree, Turns, call_summary
from devui.worker.replay.comparison import (
    Expected,
    Ids,
    SentNow,
    by_hand,
    diff_text,
    differences,
    other_result,
    request_in_full,
)
from devui.worker.replay.interventions import Hands


class ReplayEnd(Exception):
    """The replay does not go on."""


class Diverged(ReplayEnd):
    """The first difference between the replay and the recording."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.message)
        self.divergence = divergence


class RecordingEnds(ReplayEnd):
    """All that was recorded has been executed again."""


def recorded_error(text: str) -> Exception:
    """The exception that a recorded call raised, from `Type: message`.

    One of Python's own is of its type; any other is of a new type of that name.
    """
    name, _, message = text.partition(": ")
    if name == "KeyError":
        return _key_error(message)
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            error: Exception = kind(message)
        except TypeError:  # UnicodeError and the like want more than a message
            pass
        else:
            return error
    if not name.isidentifier():
        return RuntimeError(text)
    stand_in: Exception = type(name, (Exception,), {})(message)
    return stand_in


def _key_error(message: str) -> KeyError:
    """It says its key as code would, and its notes below; a sentence stands for itself."""
    key, _, notes = message.partition("\n")
    try:
        error = KeyError(ast.literal_eval(key))
    except (ValueError, SyntaxError):
        return KeyError(message)
    if notes:
        error.add_note(notes)
    return error


_Difference = tuple[Literal["end", "fragment"], str, dict[str, Any]]
"""What of, in words, and more of a Divergence."""


def other_ends(
    recording: Recording,
    committed: int,
    came: tuple[str, str | None],
    *,
    next_call: RecordedCall | None,
    missed: list[dict[str, Any]],
) -> Iterator[_Difference]:
    """What is different at the end, the weightiest first.

    `committed` events were, and the run `came` to this outcome and error; `next_call` is a
    call and `missed` are fragments that were to come.
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
    """Saves again what a tool saved whose result is recorded."""

    def __init__(self, recording: Recording) -> None:
        self._parts = {(file.name, file.version): file.part for file in recording.files}

    async def save(self, context: Context, delta: dict[str, int]) -> None:
        """Save the versions of an `artifactDelta`; one that is not there any more is noted only."""
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
    """The summary as it was recorded, as one of these events, with the ids of the replay."""
    fields = {name: value for name, value in recorded.items() if name not in {"id", "timestamp"}}
    event = kit.read_event(ids.actual(json.dumps(fields)))
    if event.actions.compaction is not None:
        event.actions.compaction.start_timestamp = min(each.timestamp for each in events)
        event.actions.compaction.end_timestamp = max(each.timestamp for each in events)
    return event


CUT_OFF = frozenset({"stopped", "interrupted"})
"""Ends of a recorded run that are no part of what its code did."""


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
        """Execute again in the session of this id.

        Tolerant of differences, it notes the first and goes on, as long as there are answers.
        `anywhere`: as of `CallTree`. `busy` tells whether the run waits for somebody, such as a
        person at a gate.
        """
        self.recording = recording
        self.session = session
        self._kit = kit
        self.live_tools = live_tools
        self.ids = Ids()
        self.expected = Expected(recording, self.ids, live_tools=live_tools)
        self.turns = Turns(lambda: busy() or self._committing or self._executing > 0)
        self._tree = CallTree(recording, anywhere=anywhere)
        self.hands = Hands(recording, self.ids, self.expected, self._tree.turns)
        self._files = RecordedFiles(recording)
        self._executing = 0
        """Tools that are called for real now."""
        self._committing = False
        self._event_ids: set[str] = set()
        self._strayed = False
        """A live tool gave another result than the recorded one."""
        self._answer_count = 0
        self._live = 0
        self._notes: list[str] = []
        self._end: ReplayEnd | None = None
        self._tolerant = tolerant
        self._first_divergence: Divergence | None = None

    @property
    def cut_off(self) -> bool:
        """The recorded run came to no end of its own."""
        return self.recording.outcome in CUT_OFF

    # --- agents ----------------------------------------------------------------------------

    def agent(self, parent: int | None, name: str, branch: str | None) -> int:
        """The recorded number of an agent's run; -1 for one that was not recorded."""
        self.check()
        self.turns.progress()
        call = self._tree.agent(parent, name, self.ids.recorded(branch))
        return call.number if call else -1

    def first_sight(self, event: str) -> bool:
        """Whether the event of this id has not been asked about before."""
        is_known = event in self._event_ids
        self._event_ids.add(event)
        return not is_known

    async def turn(self, agent: int, author: str, branch: str | None) -> None:
        """Let those events be committed that come before the next one of this agent's run."""
        place = self.expected.place_of_next(author, branch)
        if place is None:  # one more than recorded: of an agent that others broke off, perhaps
            place = len(self.recording.events) + self._tree.is_open(agent)
        await self.turns.wait_for(place)
        self.check()

    async def failing(self, error: Exception) -> None:
        """An agent raises this: if it is what ended the run, all events were before."""
        text = f"{type(error).__name__}: {message_of(error)}"
        if not isinstance(error, ReplayEnd) and text == self.recording.error:
            await self.turns.wait_for(len(self.recording.events))

    # --- calls -----------------------------------------------------------------------------

    async def model(
        self, parent: int | None, context: Context, request: LlmRequest, *, stream: bool
    ) -> AsyncGenerator[LlmResponse, None]:
        """The recorded responses; raises what the model raised, and ReplayEnd."""
        self.check()
        agent, branch = context.agent_name, self.ids.recorded(context.branch)
        call = self._tree.model(parent, agent, branch)
        if call is None:
            await self._broken_off(parent)
            self._unexpected("model", context, SentNow(request, stream=stream).in_full(self.ids))
        self._compare_request(call, request, stream=stream, context=context)
        async with aclosing(self.responses(call)) as responses:
            async for response in responses:
                yield response

    async def responses(self, call: RecordedCall) -> AsyncGenerator[LlmResponse, None]:
        """Those of a model call; raises what the model raised, and ReplayEnd."""
        self._answer_count += 1
        for _, response in call.responses:
            if not response.get("partial"):
                await self._in_turn(call)
            elif not self.expected.streams(call):
                break  # it was heard here, and broken off before it got any further
            yield self._kit.llm_response.model_validate_json(json.dumps(response))
        await self._finish(call)

    async def tool(
        self, parent: int | None, context: Context, name: str, args: dict[str, Any]
    ) -> RecordedCall:
        """The recorded call; raises ReplayEnd if there is none of these arguments."""
        self.check()
        self.turns.progress()
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
        """The recorded result of a tool, with all that it changed; raises what it raised."""
        self._answer_count += 1
        self._tree.skip_inside(call)
        await self._in_turn(call)
        effects = json.loads(self.ids.actual(json.dumps(call.effects)))
        apply_effects(self._kit, context, effects)
        await self._files.save(context, effects.get("artifactDelta") or {})
        await self._finish(call)
        return call.result

    async def live(self, call: RecordedCall, proceed: Callable[[], Any], *, real: bool) -> Any:
        """Execute a tool; `real`: it acts on the world, not on agents alone."""
        self._live += real
        self._executing += real
        try:
            result = await proceed()
        finally:
            self._executing -= real
        diffs = differences(call.result, json.loads(as_json(result))) if real else []
        if diffs:
            self._strayed = True
            self._notes.append(other_result(call, diffs[0]))
        return result

    # --- events ----------------------------------------------------------------------------

    def event(self, text: str) -> Verdict | None:
        """Compare an event, as JSON text, before it is committed; raises ReplayEnd.

        If a person did something to it in the recorded run, that is returned and comes first.
        """
        self.check()
        place, actual = self.turns.committed, json.loads(text)
        if verdict := self.hands.of_event(place, actual):
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
        """The event that was compared last is committed."""
        self._committing = False
        self.turns.advance()

    def dropped(self) -> None:
        """The event that was compared last is not to be committed: a person let it fall."""
        if self._committing:  # else it was dropped when it was recorded, too
            self._notes.append("a person dropped an event")
        self._committing = False

    def fragment(self, text: str) -> None:
        """Compare a partial event, as JSON text; raises ReplayEnd."""
        self.check()
        self.turns.progress()
        actual = json.loads(text)
        expected, diffs = self.expected.fragment(actual)
        if self.cut_off and expected is None:
            return  # what was streamed last may not have been kept
        if expected is None or diffs:
            author, place = actual.get("author"), self.recording.first + self.turns.committed
            message = f"{author} streamed a different chunk for #{place} than recorded."
            about = {"agent": author, "expected": expected, "actual": actual}
            self.differ("fragment", message, **about, differences=diffs)

    def summary(self, events: Sequence[Event]) -> Event | None:
        """The recorded summary of old events, if one comes next, for these; raises ReplayEnd."""
        self.check()
        place, recorded = self.turns.committed, self.recording.events
        event = recorded[place] if place < len(recorded) else {}
        compacts = (event.get("actions") or {}).get("compaction")
        return recorded_summary(self._kit, event, events, self.ids) if compacts else None

    def connection(self, target: str) -> NoReturn:
        """Refuse a connection: nothing live is reached from a replay. Raises Diverged."""
        message = f"The agent's code tried to connect to {target}; replays make no live calls."
        self.diverge("network", message, actual=target)

    # --- the end ---------------------------------------------------------------------------

    def check(self) -> None:
        """Raise ReplayEnd if the replay is over."""
        if self._end is not None:
            raise self._end

    def differ(self, what: Any, message: str, **more: Any) -> None:
        """Note a difference if the replay is tolerant, else end it here: raises Diverged."""
        if not self._tolerant:
            self.diverge(what, message, **more)
        self._first_divergence = self._first_divergence or self._divergence(what, message, more)

    def diverge(self, what: Any, message: str, **more: Any) -> NoReturn:
        """End the replay here; the first time counts. Raises Diverged."""
        self.check()
        self._end = Diverged(self._divergence(what, message, more))
        self.turns.open()
        raise self._end

    def _divergence(self, what: Any, message: str, more: dict[str, Any]) -> Divergence:
        context: Context | None = more.pop("context", None)
        if context is not None:
            more |= {"agent": context.agent_name, "branch": context.branch}
        return Divergence(what=what, message=message, place=self.turns.committed, **more)

    @property
    def end(self) -> ReplayEnd | None:
        """What ended the replay early."""
        return self._end

    def verdict(self, outcome: str, error: str | None) -> ReplayVerdict:
        """What came of it; `outcome` and `error` are those of the run, as of a Recording."""
        self._check_end(outcome, error)
        end = self._end
        divergence = self._first_divergence or (
            end.divergence if isinstance(end, Diverged) else None
        )
        stopped = outcome == "stopped" and end is None
        if stopped:
            self._notes.append("the replay was stopped early")
        return ReplayVerdict(
            identical=not (stopped or divergence or self._strayed),
            events=min(self.turns.committed, len(self.recording.events)),
            recorded=len(self.recording.events),
            calls=self._answer_count,
            live=self._live,
            strayed=self._strayed,
            notes=list(dict.fromkeys(self._notes)),
            divergence=divergence,
        )

    def _check_end(self, outcome: str, error: str | None) -> None:
        """Notice an end that is not the recorded one."""
        if self._end is not None or outcome == "stopped" or self.cut_off:
            return
        ends = other_ends(
            self.recording,
            self.turns.committed,
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
        self.turns.progress()
        actual = SentNow(request, stream=stream)
        if call.request is None:
            self._notes.append(f"a request of {call.agent} was too large to record")
            return
        if actual.request == call.request:
            return
        expected = request_in_full(call.request, self.recording.pieces)
        report = actual.other_than(expected, self.ids, with_content=not self._strayed)
        if report:
            fields = diff_text(report["differences"])
            message = f"{call.agent} sent its model a different request than recorded: {fields}"
            self.differ("model", message, context=context, **report)

    def _unexpected(
        self, what: Literal["model", "tool"], context: Context, actual: Any
    ) -> NoReturn:
        if self.cut_off and self.turns.committed >= len(self.recording.events):
            self._recording_ends()
        nearest = self._tree.next_of(context.agent_name)
        action = f"called {actual['tool']}" if what == "tool" else "called its model once more"
        coming = self.recording.events[self.turns.committed :][:1]
        hand = by_hand(coming[0]) if coming else ""
        self.diverge(
            what,
            f"{context.agent_name} {action}; no such call was recorded at this point.{hand}",
            context=context,
            actual=actual,
            nearest=call_summary(nearest) if nearest else None,
        )

    async def _broken_off(self, agent: int | None) -> None:
        """Wait to be broken off, as the agent of this number was before it came so far."""
        if self._tree.is_open(agent) and not self.cut_off:
            await self.turns.wait_for(len(self.recording.events) + 1)
            self.check()

    async def _in_turn(self, call: RecordedCall) -> None:
        """Wait until it would have come back, as far as the events around it tell."""
        place = call.event
        if place is None and not self._tree.within_tool(call):
            # No event came of it: it was too late, or it failed. Others were before.
            place = self.expected.place_ahead(call.agent, call.branch)
        if place is not None:
            await self.turns.wait_for(place)
        self.check()

    async def _finish(self, call: RecordedCall) -> None:
        """End as the recorded call did."""
        if call.open:
            await self._never(call)
        if call.error is not None:
            await self._in_turn(call)
            raise recorded_error(call.error)

    async def _never(self, call: RecordedCall) -> None:
        """The recorded call did not come back: it was broken off by others, or the run ended."""
        await self.turns.wait_for(len(self.recording.events) + (not self.cut_off))
        self.check()
        if self.cut_off:
            self._recording_ends()
        message = (
            f"{call.name} of {call.agent} was cancelled in the recorded run, but not in this one."
        )
        self.diverge("end", message, agent=call.agent, expected=call_summary(call))

    def _recording_ends(self) -> NoReturn:
        self._end = RecordingEnds("the recording ends here")
        self.turns.open()
        raise self._end
