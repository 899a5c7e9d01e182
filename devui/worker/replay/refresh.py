"""Records a run again with the current code of the agent, without server and journal.

Recorded calls are answered from the recording; all others are made live. A call is identified by
its request, wherever it occurs, and each recorded call answers once, so that no effect of a tool is
repeated. Whatever hasn't changed keeps its old ids, times and names.
"""

import json
import uuid
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.wire.framing import codecs
from devui.wire.gates import Verdict
from devui.wire.messages import ToServer
from devui.wire.pieces import piece_name
from devui.wire.recordings import (
    ModelRequest,
    RecordedCall,
    RecordedEngine,
    RecordedFile,
    Recording,
)
from devui.wire.spans import Prompt, SpanBegan, SpanEnded
from devui.worker.engines.choice import kit_of
from devui.worker.engines.kit import (
    App,
    BaseAgent,
    BaseNode,
    BaseTool,
    Context,
    Event,
    InvocationContext,
    Kit,
    LlmRequest,
    LlmResponse,
)
from devui.worker.instruments.recorder import Recorder
from devui.worker.json_text import as_json
from devui.worker.replay.comparison import (
    CurrentRequest,
    Ids,
    comparable,
    differences,
    request_differences,
    request_in_full,
)
from devui.worker.replay.headless import Headless
from devui.worker.replay.plugin import in_order
from devui.worker.replay.replay import Replay

_CANCELLED = "cancelled"


class Tape:
    """Collects the recorder's messages, and the committed and streamed events."""

    def __init__(self, run: str, kit: Kit) -> None:
        self._kit = kit
        self.recorder = Recorder(self._hear, kit)
        self.recorder.begin(run, 0)
        self.pieces: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        """The committed events, in order and in wire form."""
        self.fragments: list[dict[str, Any]] = []
        self._run = run
        self._begins: list[SpanBegan] = []
        self._ends: dict[int, SpanEnded] = {}
        self._places: dict[int, int] = {}
        """The index of the event that a span produced, by span."""

    def event(self, text: str) -> dict[str, Any]:
        """Store an event, given as JSON text, that is about to be committed."""
        event: dict[str, Any] = json.loads(text)
        for span in self.recorder.origin(self._run, self._kit.read_event(text)).spans:
            self._places[span] = len(self.events)
        self.events.append(event)
        return event

    def fragment(self, text: str) -> None:
        """Store a partial event, given as JSON text."""
        self.fragments.append(json.loads(text))

    def calls(self) -> list[RecordedCall]:
        """Return all calls, in the order in which they began."""
        return [self._call(span, self._ends.get(span.span)) for span in self._begins]

    def _hear(self, message: ToServer) -> None:
        if isinstance(message, SpanBegan):
            self._begins.append(message)
            pieces = message.prompt.pieces if message.prompt else {}
            self.pieces |= {name: json.loads(text) for name, text in pieces.items()}
        elif isinstance(message, SpanEnded):
            self._ends[message.span] = message  # a second message has more data

    def _call(self, span: SpanBegan, end: SpanEnded | None) -> RecordedCall:
        error = end.error if end else None
        result = json.loads(end.result) if end and end.result else None
        is_model, is_tool = span.type == "model", span.type == "tool"
        return RecordedCall(
            number=span.span,
            parent=span.parent,
            type=span.type,
            name=span.name,
            agent=span.agent,
            branch=span.branch,
            call=span.call,
            event=self._places.get(span.span),
            request=_request_of(span.prompt) if span.prompt else None,
            args=json.loads(span.args) if is_tool and span.args else None,
            responses=[(seconds, answer) for seconds, answer in result or []] if is_model else [],
            result=result if is_tool else None,
            effects=json.loads(end.effects) if end and end.effects else {},
            error=None if error == _CANCELLED else error,
            open=end is None or error == _CANCELLED,
        )


def _request_of(prompt: Prompt) -> ModelRequest:
    return ModelRequest(
        model=prompt.model,
        stream=prompt.stream,
        system=prompt.system,
        tools=prompt.tools,
        config=prompt.config,
        contents=prompt.contents,
    )


def steadied(fresh: Recording, old: Recording, ids: Ids) -> Recording:
    """Return the new recording with old ids, names and times; `ids` maps new ids to old ones."""
    recording = _with_old_names(_with_old_ids(fresh, ids), old, ids)
    return replace(
        recording,
        calls=_calls(recording, old),
        fragments=_fragments(recording.fragments, old.fragments),
        events=[
            old.events[place] if _is_event(old, place, event) else event
            for place, event in enumerate(recording.events)
        ],
    )


def _with_old_ids(fresh: Recording, ids: Ids) -> Recording:
    text = codecs().RECORDING.dump(replace(fresh, pieces={}, history=[])).decode()
    recording: Recording = codecs().RECORDING.load(ids.recorded_surely(text).encode())
    return replace(recording, pieces=fresh.pieces, history=fresh.history)


def _with_old_names(fresh: Recording, old: Recording, ids: Ids) -> Recording:
    """Give unchanged pieces of requests their old names."""
    old_names = {_text(value): name for name, value in old.pieces.items()}
    names, pieces = {}, {}
    for name, value in fresh.pieces.items():
        before = _text(value)
        text = ids.recorded_surely(before)
        names[name] = old_names.get(text) or (name if text == before else piece_name(text))
        pieces[names[name]] = json.loads(text)
    calls = [replace(call, request=_renamed(call.request, names)) for call in fresh.calls]
    return replace(fresh, calls=calls, pieces=dict(sorted(pieces.items())))


def _renamed(request: ModelRequest | None, names: dict[str, str]) -> ModelRequest | None:
    if request is None:
        return None
    return replace(
        request,
        system=request.system and names[request.system],
        tools=request.tools and names[request.tools],
        config=request.config and names[request.config],
        contents=[names[name] for name in request.contents],
    )


def _calls(fresh: Recording, old: Recording) -> list[RecordedCall]:
    """Return the calls; unchanged ones keep their recorded timing and request."""
    remaining = list(old.calls)

    def steady(call: RecordedCall) -> RecordedCall:
        match = next((other for other in remaining if _is_same(call, fresh, other, old)), None)
        if match is None:
            return call
        remaining.remove(match)
        # Pieces are named by what was really sent, which may have contained a secret.
        return replace(call, responses=match.responses, request=match.request)

    return [steady(call) for call in fresh.calls]


def _is_same(new: RecordedCall, fresh: Recording, old_call: RecordedCall, old: Recording) -> bool:
    def content(call: RecordedCall) -> Any:
        answers = [answer for _, answer in call.responses]
        return call.type, call.name, call.agent, call.args, answers, call.result

    def request(call: RecordedCall, recording: Recording) -> Any:
        return call.request and request_in_full(call.request, recording.pieces)

    if content(new) != content(old_call):
        return False
    return new.request == old_call.request or request(new, fresh) == request(old_call, old)


def _fragments(fresh: list[dict[str, Any]], old: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the fragments, in order per event, and interleaved as in the old recording."""
    queues: dict[Any, deque[dict[str, Any]]] = defaultdict(deque)
    for fragment in fresh:
        queues[fragment.get("id")].append(fragment)
    fragments = []
    for earlier in old:
        if own := queues[earlier.get("id")]:
            new = own.popleft()
            fragments.append(earlier if comparable(new) == comparable(earlier) else new)
    return [*fragments, *(fragment for own in queues.values() for fragment in own)]


def _is_event(old: Recording, place: int, event: dict[str, Any]) -> bool:
    return place < len(old.events) and comparable(event) == comparable(old.events[place])


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Reuse(BasePlugin):
    """Answers the calls of one run from its recording where possible; the innermost plugin."""

    def __init__(self, recording: Recording, kit: Kit) -> None:
        super().__init__("devui_reuse")
        self._kit = kit
        self.replay = Replay(recording, recording.session, kit, tolerant=True, busy=self._is_busy)
        """Keeps the recorded order as long as the run resembles its recording."""
        self.live: list[str] = []
        """Descriptions of the calls that were made live."""
        self._remaining = [call for call in recording.calls if not call.open]
        self._going = 0

    def around_agent(
        self,
        *,
        agent: BaseAgent,
        invocation_context: InvocationContext,
        proceed: Callable[[], AsyncGenerator[Event, None]],
    ) -> AsyncGenerator[Event, None]:
        """Yield an agent's events in the recorded order."""
        return in_order(self.replay, agent, invocation_context, proceed)

    async def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the recorded responses to an equal request, or else the model's."""
        self.replay.commits.progress()
        agent = callback_context.agent_name
        call = self._model(agent, CurrentRequest(llm_request, stream=stream))
        if call is None:
            self.live.append(f"the model of {agent}")
        answers = (
            self._answers(proceed(llm_request)) if call is None else self.replay.responses(call)
        )
        async with aclosing(answers) as responses:
            async for answer in responses:
                yield answer

    async def around_tool_call(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Any:
        """Return the recorded result for equal arguments, or else the tool's."""
        self.replay.commits.progress()
        if self._kit.steers(tool):
            return await proceed()
        args = json.loads(as_json(tool_args))
        call = self._tool(tool.name, tool_context.agent_name, args)
        if call is not None:
            return await self.replay.answer(call, tool_context)
        self.live.append(f"{tool.name}({', '.join(f'{k}={as_json(v)}' for k, v in args.items())})")
        self._going += 1
        try:
            return await proceed()
        finally:
            self._going -= 1

    async def around_summary(
        self, *, events: list[Event], proceed: Callable[[], Awaitable[Event | None]]
    ) -> Event | None:
        """Return the recorded summary of old events while everything is as recorded."""
        return await proceed() if self.live else self.replay.summary(events)

    async def _answers(
        self, answers: AsyncGenerator[LlmResponse, None]
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield a model's answers; it counts as busy only while one is awaited."""
        async with aclosing(answers):
            while True:
                self._going += 1
                try:
                    answer = await anext(answers, None)
                finally:
                    self._going -= 1
                if answer is None:
                    return
                yield answer

    def _is_busy(self) -> bool:
        return self._going > 0

    def _model(self, agent: str, request: CurrentRequest) -> RecordedCall | None:
        actual = request.in_full(self.replay.ids)
        pieces = self.replay.recording.pieces

        def is_it(call: RecordedCall) -> bool:
            if call.type != "model" or call.agent != agent or call.request is None:
                return False
            old_request = call.request
            full = request_in_full(old_request, pieces)
            return old_request == request.request or not request_differences(full, actual)

        return self._take(is_it)

    def _tool(self, name: str, agent: str, args: Any) -> RecordedCall | None:
        about = ("tool", name, agent)
        return self._take(
            lambda call: (
                (call.type, call.name, call.agent) == about and not differences(call.args, args)
            )
        )

    def _take(self, is_it: Callable[[RecordedCall], bool]) -> RecordedCall | None:
        call = next((each for each in self._remaining if is_it(each)), None)
        if call is not None:
            self._remaining.remove(call)
        return call


@dataclass(frozen=True, slots=True)
class RefreshedRecording:
    """A recording that was made again."""

    recording: Recording
    live: list[str]
    """The calls that were made live, in words; all others were answered from the recording."""


async def refresh_headless(exported: App | BaseNode, recording: Recording) -> RefreshedRecording:
    """Execute a recorded run again; calls that aren't in the recording are made live."""
    run, kit = uuid.uuid4().hex, kit_of(exported)
    reuse, tape = Reuse(recording, kit), Tape(run, kit)
    headless = Headless(exported, recording, _TapeRecorder(reuse, tape), kit)
    outcome, error = await headless.execute(
        run, [tape.recorder, reuse], reuse.replay.recorded_edits
    )
    fresh = replace(
        recording,
        engine=RecordedEngine(name=kit.name, version=kit.version),
        outcome=outcome,
        error=error,
        files=await _files(headless, recording, tape.events),
        pieces=tape.pieces,
        calls=tape.calls(),
        edits=reuse.replay.recorded_edits.repeated,
        fragments=tape.fragments,
        events=tape.events,
    )
    return RefreshedRecording(steadied(fresh, recording, reuse.replay.ids), reuse.live)


class _TapeRecorder:
    """Stores committed and streamed events before they are compared."""

    def __init__(self, reuse: Reuse, tape: Tape) -> None:
        self._replay = reuse.replay
        self._tape = tape

    def fragment(self, text: str) -> None:
        self._tape.fragment(text)
        self._replay.fragment(text)

    def event(self, text: str) -> Verdict | None:
        count = self._replay.commits.count
        if verdict := self._replay.recorded_edits.of_event(count, json.loads(text)):
            return verdict
        place, event = len(self._tape.events), self._tape.event(text)
        self._replay.event(text)
        recorded = self._replay.recording.events
        if place >= len(recorded) or _shape(event) != _shape(recorded[place]):
            self._replay.commits.open()  # the recording no longer tells what comes next
        return None

    def committed(self) -> None:
        self._replay.committed()


def _shape(event: dict[str, Any]) -> tuple[Any, ...]:
    """Return the author of an event, and the names in its calls and responses."""
    parts = (event.get("content") or {}).get("parts") or []
    names = [
        (kind, part[kind].get("name"))
        for part in parts
        for kind in ("functionCall", "functionResponse")
        if part.get(kind)
    ]
    return event.get("author"), tuple(names)


async def _files(
    headless: Headless, recording: Recording, events: Iterable[dict[str, Any]]
) -> list[RecordedFile]:
    """Return the files from before the run, and those that its events mention."""
    old_files = {(file.name, file.version): file for file in recording.files}
    before, now = _artifact_versions(recording.history), _artifact_versions(events)
    files = {place: old_files[place] for place in before if place in old_files}
    for name, version in now - before:
        part = await headless.file(name, version)
        if part is not None:
            new = RecordedFile(name=name, version=version, part=part)
            old = old_files.get((name, version))
            files[name, version] = old if old is not None and old == new else new
    return [files[place] for place in sorted(files)]


def _artifact_versions(events: Iterable[dict[str, Any]]) -> set[tuple[str, int]]:
    return {
        item
        for event in events
        for item in ((event.get("actions") or {}).get("artifactDelta") or {}).items()
    }
