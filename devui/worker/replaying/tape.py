"""What a run without a server is recorded on, for a new recording of it."""

import json
from typing import Any

from devui.runtime.events.reading import read_event
from devui.wire.messages import ToServer
from devui.wire.recordings import Asked, RecordedCall
from devui.wire.spans import Prompt, SpanBegan, SpanEnded
from devui.worker.recorder import Recorder

_CANCELLED = "cancelled"


class Tape:
    """Hears what the recorder tells, and what is committed and streamed."""

    def __init__(self, run: str) -> None:
        self.recorder = Recorder(self._hear)
        self.recorder.begin(run, 0)
        self.pieces: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        """As they are committed, in wire form."""
        self.fragments: list[dict[str, Any]] = []
        self._run = run
        self._begun: list[SpanBegan] = []
        self._ended: dict[int, SpanEnded] = {}
        self._places: dict[int, int] = {}
        """By span: the place of the event that came of it."""

    def event(self, text: str) -> dict[str, Any]:
        """An event, as JSON text, is to be committed."""
        told: dict[str, Any] = json.loads(text)
        for span in self.recorder.causes(self._run, read_event(text)):
            self._places[span] = len(self.events)
        self.events.append(told)
        return told

    def fragment(self, text: str) -> None:
        """A partial event, as JSON text, is shown."""
        self.fragments.append(json.loads(text))

    def calls(self) -> list[RecordedCall]:
        """All calls, in the order in which they began."""
        return [self._call(span, self._ended.get(span.span)) for span in self._begun]

    def _hear(self, message: ToServer) -> None:
        if isinstance(message, SpanBegan):
            self._begun.append(message)
            pieces = message.prompt.pieces if message.prompt else {}
            self.pieces |= {name: json.loads(text) for name, text in pieces.items()}
        elif isinstance(message, SpanEnded):
            self._ended[message.span] = message  # the second time it has more

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
            request=_asked(span.prompt) if span.prompt else None,
            args=json.loads(span.args) if is_tool and span.args else None,
            responses=[(seconds, answer) for seconds, answer in result or []] if is_model else [],
            result=result if is_tool else None,
            effects=json.loads(end.effects) if end and end.effects else {},
            error=None if error == _CANCELLED else error,
            open=end is None or error == _CANCELLED,
        )


def _asked(prompt: Prompt) -> Asked:
    return Asked(
        model=prompt.model,
        stream=prompt.stream,
        system=prompt.system,
        tools=prompt.tools,
        config=prompt.config,
        contents=prompt.contents,
    )
