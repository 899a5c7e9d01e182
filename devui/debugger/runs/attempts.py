"""The attempt of a call that an event belongs to: a retried run repeats calls that have failed."""

from dataclasses import dataclass, field, replace

from devui.store.journal import Journal
from devui.store.runs.calls import first_open_call
from devui.store.summaries import ResponseSummary, Summary


@dataclass(slots=True)
class _OpenCall:
    """A call without a result."""

    invocation: str
    branch: str | None
    args: str
    failures: int = 0


@dataclass(slots=True)
class Attempts:
    """Counts the attempts of a session's calls from its events, in order."""

    _calls: dict[str, _OpenCall] = field(default_factory=dict)
    """The calls without a result, by id."""

    def number(self, summary: Summary, invocation: str, branch: str | None) -> Summary:
        """Return the summary of the next event, with its attempt if that isn't the first."""
        calls = self._calls
        if summary.responses:
            responses = tuple(self._answer(each) for each in summary.responses)
            summary = replace(summary, responses=responses)
        if summary.kind == "error":
            # An error doesn't name its call. Parallel calls were cancelled and run again, too.
            group = [c for c in calls.values() if (c.invocation, c.branch) == (invocation, branch)]
            for call in group:
                call.failures += 1
            most = max((call.failures for call in group), default=0)
            summary = replace(summary, attempt=most) if most > 1 else summary
        for call_summary in summary.calls:
            if call_summary.id and not summary.long_running:  # it may wait while others fail
                calls.setdefault(call_summary.id, _OpenCall(invocation, branch, call_summary.args))
        return summary

    def _answer(self, response: ResponseSummary) -> ResponseSummary:
        call = self._calls.pop(response.id or "", None)
        if call is None or not call.failures:
            return response
        return replace(response, attempt=call.failures + 1, args=call.args)


async def attempts_so_far(journal: Journal, session: int, invocation: str) -> Attempts:
    """Return the counts to start from when the invocation is resumed."""
    attempts = Attempts()
    first = await first_open_call(journal, session, invocation)
    if first is not None:
        events = await journal.events.of_invocation(session, invocation, after=first.seq - 1)
        for row, _ in events:
            attempts.number(row.summary, invocation, row.branch)
    return attempts
