"""What a run has recorded of itself and is not in the journal yet (decisions/0009)."""

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
    """JSON texts by name."""
    turns: Counter[str] = field(default_factory=Counter)
    """By agent: how many runs and calls of it have begun."""
    open: dict[int, SpanBegan] = field(default_factory=dict)
    """What goes on now, by number; kept in the order in which it began."""

    def begin(self, span: SpanBegan) -> None:
        """Something began."""
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
        """Something ended; a model call may say so twice, the second time with more."""
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
        """What waits to be written; it waits no longer."""
        batch = Recording(self.starts, self.ends, self.pieces)
        self.starts, self.ends, self.pieces = [], [], {}
        return batch

    def __len__(self) -> int:
        """How much waits to be written."""
        return len(self.starts) + len(self.ends)
