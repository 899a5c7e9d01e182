"""What a run has recorded that isn't in the journal yet (decisions/0009)."""

from collections import Counter
from dataclasses import dataclass, field

from devui.store.rows import SpanEnd
from devui.store.runs.requests import NewSpan
from devui.wire.spans import SpanBegan, SpanEnded


@dataclass(slots=True)
class Recording:
    """The spans of one run."""

    starts: list[NewSpan] = field(default_factory=list)
    ends: list[SpanEnd] = field(default_factory=list)
    pieces: dict[str, str] = field(default_factory=dict)
    """The pieces of prompts, as JSON texts by name."""
    turns: Counter[str] = field(default_factory=Counter)
    """How many runs and calls of each agent have begun."""
    open: dict[int, SpanBegan] = field(default_factory=dict)
    """The spans in progress by number, in the order in which they began."""

    def begin(self, span: SpanBegan) -> None:
        """Record the start of a span."""
        self.open[span.span] = span
        self.turns[span.agent] += 1
        if span.prompt is not None:
            self.pieces.update(span.prompt.pieces)
        self.starts.append(
            NewSpan(
                run=span.run,
                number=span.span,
                parent=span.parent,
                type=span.type,
                name=span.name,
                agent=span.agent,
                branch=span.branch,
                call=span.call,
                began=span.at,
                sent=span.args,
                prompt=span.prompt,
            )
        )

    def end(self, span: SpanEnded) -> None:
        """Record the end of a span; a model call may report it twice, with more the second time."""
        self.open.pop(span.span, None)
        self.ends.append(
            SpanEnd(
                run=span.run,
                number=span.span,
                seconds=span.seconds,
                first=span.first,
                error=span.error,
                result=span.result,
                effects=span.effects,
            )
        )

    def take(self) -> "Recording":
        """Remove what waits to be written, and return it."""
        batch = Recording(self.starts, self.ends, self.pieces)
        self.starts, self.ends, self.pieces = [], [], {}
        return batch

    def __len__(self) -> int:
        """How many starts and ends of spans wait to be written."""
        return len(self.starts) + len(self.ends)
