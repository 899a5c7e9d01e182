"""The endpoints of the debugger's API, a method each.

scripts/describe writes this module from the routes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, Literal
from uuid import uuid4

from devui.client.connection import Connection, Stream

if TYPE_CHECKING:
    from devui.debugger.breakpoints.kinds import On
    from devui.debugger.guard.effects import EffectChoice
    from devui.debugger.guard.guard import Policy
    from devui.debugger.stepping.commands import CommandName
    from devui.store.rows import Scope
    from devui.store.session_lists import Choice, Sort
    from devui.web.adk.event_json import AdkEventJson
    from devui.web.panels.apps.api import UnusedSessionsJson
    from devui.web.panels.breakpoints.api import BreakpointJson, DeletedJson, PastHitsJson
    from devui.web.panels.bundles.api import ImportedSessionJson, PreviewJson
    from devui.web.panels.compare.api import ComparisonJson, EventComparisonJson
    from devui.web.panels.jobs.api import JobJson
    from devui.web.panels.memory.api import MemoryJson
    from devui.web.panels.notes.api import NoteJson
    from devui.web.panels.questions.api import QuestionFormJson
    from devui.web.panels.queue.api import QueueJson
    from devui.web.panels.recovery.api import CutoffJson, LineageJson, NewForkJson
    from devui.web.panels.replays.api import ReplayJson, RunJson
    from devui.web.panels.request.api import PromptDiffJson
    from devui.web.panels.runs.schemas import (
        EditJson,
        OutputLineJson,
        PositionJson,
        RunActivityJson,
        SessionsJson,
    )
    from devui.web.panels.search.api import SearchJson
    from devui.web.panels.state.history_api import KeyHistoryJson
    from devui.web.panels.state.uncommitted_api import UncommittedStateJson
    from devui.web.panels.tags.api import TagCountJson, TagsJson
    from devui.web.panels.tests.api import SavedTestJson, TestOfferJson
    from devui.web.panels.timeline.api import (
        DeletedNewsJson,
        EventNewsJson,
        EventRowJson,
        FilterWordJson,
        OutputNewsJson,
        PositionNewsJson,
        StateJson,
    )
    from devui.web.panels.trace.api import SpanJson, SpanWithBodiesJson, TraceExportJson, TraceJson
    from devui.web.panels.trials.api import ToolJson, ToolsJson, TrialJson
    from devui.web.panels.usage.usage import UsageJson
    from devui.web.security.sign_in_links import SignInLinkJson
    from devui.wire.engines import ReplayEngine


class Endpoints(Connection):
    """The endpoints of the debugger's API, a method each."""

    def search(self, q: str, *, before: int | None = None) -> SearchJson:
        """Search the events of all sessions.

        `q` is a filter (docs/guide/debugging.md#filtering-the-timeline): texts, `tool:`, `key:`,
        `is:error`, `cost>0.01`. Texts match at the beginning of a word. Returns at most 20 sessions
        with three events each; `before` leads to older ones. Events that a fork copied are listed
        only in its parent. `tag:bug` searches the sessions with this tag; without other terms, it
        lists them, the 100 most recently active.

        Args:
            q: A filter, as in the timeline.
            before: The `before` of the previous page.
        """
        answer: SearchJson = self._get("api", "search", q=q, before=before)
        return answer

    def sessions(
        self,
        *,
        app: str | None = None,
        user: str | None = None,
        id: str | None = None,
        key: int | None = None,
        starred: str | None = None,
        tag: str | None = None,
        status: Choice | None = None,
        q: str | None = None,
        sort: Sort | None = None,
        order: Literal["asc", "desc"] | None = None,
        page: int | None = None,
    ) -> SessionsJson:
        """List sessions with their keys.

        The first 200, by last activity: the `timestamp` of a session's last event, or the time at
        which it was created or forked. `sort` and `order` choose another order.

        Args:
            user: Only the sessions of this user; requires `app`.
            id: Only sessions with this id, of the app and user if given.
            key: Only the session with this number in the journal.
            starred: `yes` selects those with a star.
            tag: Only sessions with this tag, of the app if given; case doesn't matter.
            status: With `app`: the status of the newest run, or `starred`.
            q: With `app`: part of the title or id, the number, or `tag:NAME`.
            sort: With `app`: `updated` by default.
            order: With `app`.
            page: With `app`: 50 sessions at a time, from 1.
        """
        answer: SessionsJson = self._get(
            "api",
            "sessions",
            app=app,
            user=user,
            id=id,
            key=key,
            starred=starred,
            tag=tag,
            status=status,
            q=q,
            sort=sort,
            order=order,
            page=page,
        )
        return answer

    def import_session(
        self,
        bundle: dict[str, Any] | IO[bytes],
        *,
        app: str | None = None,
        ids: Literal["keep", "new"] | None = None,
        continue_: Literal["yes"] | None = None,
    ) -> ImportedSessionJson:
        """Import a bundle as a read-only session.

        Also accepts a session's JSON. The guide explains imports
        (docs/guide/api.md#notes-and-files-of-sessions).

        Args:
            app: The app to import into, instead of its own.
            ids: Whether the session keeps its id from the file.
            continue_: Make the session writable instead of read-only.
        """
        answer: ImportedSessionJson = self._upload(
            bundle, "api", "sessions", "import", app=app, ids=ids, **{"continue": continue_}
        )
        return answer

    def jobs(self) -> list[JobJson]:
        """List active exports, imports, tests and replays, and the last ones that ended."""
        answer: list[JobJson] = self._get("api", "jobs")["jobs"]
        return answer

    def job_status(self, job: str) -> JobJson:
        """Get one job."""
        answer: JobJson = self._get("api", "jobs", job)
        return answer

    def stop_job(self, job: str) -> JobJson:
        """Stop a job; one that has ended stays as it is."""
        answer: JobJson = self._post("api", "jobs", job, "stop")
        return answer

    def prune_sessions(
        self, days: float, *, app: str | None = None, confirm: bool = False
    ) -> UnusedSessionsJson:
        """List sessions unused for a number of days, and delete them if confirmed.

        Sessions with a star, a note, a tag or an active run stay.
        """
        answer: UnusedSessionsJson = self._post(
            "api", "sessions", "prune", days=days, app=app, confirm=confirm
        )
        return answer

    def new_sign_in_link(self) -> SignInLinkJson:
        """Make a new sign-in link, as `devui link` prints it."""
        answer: SignInLinkJson = self._post("api", "sign-in-links")
        return answer

    def export_session(
        self,
        session: int,
        *,
        format: Literal["json", "html", "adk", "adk-web", "eval-set"] | None = None,
        keys: list[str] | None = None,
        secrets: Literal["keep"] | None = None,
    ) -> Stream[bytes]:
        """Export a session as a file.

        The guide explains the formats and what is left out
        (docs/guide/api.md#notes-and-files-of-sessions).

        Args:
            format: A bundle, a page, google-adk's Session, or a file for `adk web` or `adk eval`.
            keys: State keys whose values are left out, with their prefixes.
            secrets: `keep` includes secrets.
        """
        answer: Stream[bytes] = self._download(
            "api", "sessions", session, "export", format=format, keys=keys, secrets=secrets
        )
        return answer

    def preview_export(
        self, session: int, *, keys: list[str] | None = None, secrets: Literal["keep"] | None = None
    ) -> PreviewJson:
        """Preview what an export leaves out.

        Args:
            keys: State keys whose values are left out, with their prefixes.
            secrets: `keep` includes secrets.
        """
        answer: PreviewJson = self._get(
            "api", "sessions", session, "export", "preview", keys=keys, secrets=secrets
        )
        return answer

    def notes(self, session: int) -> list[NoteJson]:
        """List notes on a session and its events."""
        answer: list[NoteJson] = self._get("api", "sessions", session, "notes")["notes"]
        return answer

    def set_note(
        self, session: int, number: int, *, text: str | None = None, starred: bool | None = None
    ) -> NoteJson:
        """Write a note on an event, or star it.

        The number 0 is the session. An empty text without a star removes the note.
        """
        answer: NoteJson = self._patch(
            "api",
            "sessions",
            session,
            "notes",
            number,
            text=text,
            starred=starred,
            actor=self.actor,
        )
        return answer

    def tags(self, *, app: str | None = None) -> list[TagCountJson]:
        """List the tags that sessions have.

        Args:
            app: Only tags of this app's sessions.
        """
        answer: list[TagCountJson] = self._get("api", "tags", app=app)["tags"]
        return answer

    def change_tags(
        self, session: int, *, add: list[str] | None = None, remove: list[str] | None = None
    ) -> TagsJson:
        """Add tags to a session, and remove others.

        Case doesn't matter. Tags to remove that the session doesn't have are ignored. See tags
        (docs/guide/api.md#notes-and-files-of-sessions) for what a tag can be.
        """
        answer: TagsJson = self._patch("api", "sessions", session, "tags", add=add, remove=remove)
        return answer

    def start_run(
        self,
        session: int,
        *,
        message: str | Mapping[str, Any] | None = None,
        invocation_id: str | None = None,
        state_delta: dict[str, Any] | None = None,
        streaming: bool | None = None,
        pause: bool = False,
        save_files: bool = False,
        settings: Mapping[str, Any] | None = None,
        watch: bool = False,
        guard: Policy = "ask",
        unknown: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> PositionJson:
        """Start a run, or resume an invocation.

        `message` is text or a Content. `unknown` decides about calls of unknown outcome
        (docs/guide/api.md#resuming), `guard` about tools that ran before
        (docs/guide/debugging.md#before-a-tool-runs-twice). `settings` is for this run's model calls
        only. A run that resumes an invocation keeps its `customMetadata` and `serviceTier`, and its
        `settings` and `streaming` unless the request has its own.
        """
        answer: PositionJson = self._post(
            "api",
            "sessions",
            session,
            "runs",
            message=message,
            invocationId=invocation_id,
            stateDelta=state_delta,
            streaming=streaming,
            pause=pause,
            saveFiles=save_files,
            settings=settings,
            watch=watch,
            guard=guard,
            unknown=unknown,
            actor=self.actor,
        )
        return answer

    def newest_run(self, session: int) -> PositionJson:
        """Get the position of the newest run."""
        answer: PositionJson = self._get("api", "sessions", session, "run")
        return answer

    def queue(self, session: int) -> QueueJson:
        """List queued messages.

        The first one is sent when the session's run ends without an error and without a question.
        """
        answer: QueueJson = self._get("api", "sessions", session, "queue")
        return answer

    def queue_message(
        self,
        session: int,
        message: str | Mapping[str, Any],
        *,
        streaming: bool = True,
        pause: bool = False,
        save_files: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> QueueJson:
        """Queue a message.

        It is sent when the session's run ends, or at once if there is no run. Answers with the
        queue.
        """
        answer: QueueJson = self._post(
            "api",
            "sessions",
            session,
            "queue",
            message=message,
            streaming=streaming,
            pause=pause,
            saveFiles=save_files,
            settings=settings,
            actor=self.actor,
        )
        return answer

    def edit_queued(self, session: int, number: str, text: str) -> QueueJson:
        """Edit a queued message."""
        answer: QueueJson = self._patch("api", "sessions", session, "queue", number, text=text)
        return answer

    def remove_queued(self, session: int, number: str) -> QueueJson:
        """Remove a queued message."""
        answer: QueueJson = self._delete("api", "sessions", session, "queue", number)
        return answer

    def send_queued(self, session: int, number: str) -> PositionJson:
        """Send a queued message now.

        It is sent before earlier messages. Answers with the position of its run.
        """
        answer: PositionJson = self._post("api", "sessions", session, "queue", number, "send")
        return answer

    def questions(self, session: int) -> list[QuestionFormJson]:
        """List the open questions of the newest invocation, as forms."""
        answer: list[QuestionFormJson] = self._get("api", "sessions", session, "questions")[
            "questions"
        ]
        return answer

    def answer_question(
        self, session: int, event: int, call: str, *, fields: dict[str, str] | None = None
    ) -> PositionJson:
        """Answer a question.

        Continues the session's run with the answer.
        """
        answer: PositionJson = self._post(
            "api",
            "sessions",
            session,
            "answers",
            event=event,
            call=call,
            fields=fields,
            actor=self.actor,
        )
        return answer

    def run(
        self, run: str, *, after: int | None = None, seconds: int | None = None
    ) -> PositionJson:
        """Get the position of a run.

        Args:
            after: Wait until the position is higher than this one.
            seconds: Seconds to wait; 30 at most.
        """
        answer: PositionJson = self._get("api", "runs", run, after=after, seconds=seconds)
        return answer

    def activity(self, run: str) -> RunActivityJson:
        """Get what a run is waiting for.

        Calls, holds, tasks with their await stacks, questions. The guide explains what a run waits
        for (docs/guide/api.md#what-a-run-waits-for).
        """
        answer: RunActivityJson = self._get("api", "runs", run, "activity")
        return answer

    def log(
        self,
        run: str,
        *,
        after: int | None = None,
        limit: int | None = None,
        last: int | None = None,
    ) -> list[OutputLineJson]:
        """List what a run printed and logged.

        Includes stdout, stderr, logging and the debugger's log lines so far. Without `last`,
        returns 1,000 lines after line `after`, or up to `limit`.

        Args:
            after: The number of a line.
            limit: The maximum number to return, starting after `after`.
            last: Return only the last N lines.
        """
        answer: list[OutputLineJson] = self._get(
            "api", "runs", run, "log", after=after, limit=limit, last=last
        )["lines"]
        return answer

    def command(
        self,
        run: str,
        command: CommandName,
        *,
        key: str | None = None,
        position: int | None = None,
        hold: int | None = None,
        like: Mapping[str, Any] | None = None,
        value: Any = None,
    ) -> PositionJson:
        """Step or continue a run, or edit what is held.

        Answers with the new position; a refused command answers with the current one.
        """
        answer: PositionJson = self._post(
            "api",
            "runs",
            run,
            "commands",
            command=command,
            key=key or uuid4().hex,
            position=position,
            hold=hold,
            like=like,
            value=value,
            actor=self.actor,
        )
        return answer

    def end_call(
        self,
        run: str,
        command: Literal["end", "answer"],
        call: int | str,
        *,
        key: str | None = None,
        value: Any = None,
    ) -> PositionJson:
        """End a call in progress, or answer it.

        Ends an active call (docs/guide/debugging.md#why-is-it-stuck) (`end`) or answers in its
        place (`answer`); the run continues. It is refused with 409 if the call has ended or can't
        be reached, with 422 if the answer is invalid or several calls match.
        """
        answer: PositionJson = self._post(
            "api",
            "runs",
            run,
            "calls",
            command=command,
            key=key or uuid4().hex,
            call=call,
            value=value,
            actor=self.actor,
        )
        return answer

    def breakpoints(self, app: str) -> list[BreakpointJson]:
        """List an app's breakpoints."""
        answer: list[BreakpointJson] = self._get("api", "apps", app, "breakpoints")["breakpoints"]
        return answer

    def add_breakpoint(
        self,
        app: str,
        on: On,
        *,
        name: str = "*",
        agent: str = "*",
        when: Literal["before", "after"] = "before",
        condition: str = "",
        hit: str = "",
        log: str = "",
        enabled: bool = True,
    ) -> BreakpointJson:
        """Create a breakpoint.

        It also applies to runs that are in progress.
        """
        answer: BreakpointJson = self._post(
            "api",
            "apps",
            app,
            "breakpoints",
            on=on,
            name=name,
            agent=agent,
            when=when,
            condition=condition,
            hit=hit,
            log=log,
            enabled=enabled,
            actor=self.actor,
        )
        return answer

    def change_breakpoint(
        self,
        app: str,
        number: int,
        version: int,
        *,
        enabled: bool | None = None,
        user: str | None = None,
        on: On | None = None,
        name: str | None = None,
        agent: str | None = None,
        when: Literal["before", "after"] | None = None,
        condition: str | None = None,
        hit: str | None = None,
        log: str | None = None,
    ) -> BreakpointJson:
        """Change a breakpoint.

        Changes the given members. `version` is the one you read, 409 if it has changed since.
        `enabled` with `user` applies only to this user's sessions.
        """
        answer: BreakpointJson = self._patch(
            "api",
            "apps",
            app,
            "breakpoints",
            number,
            version=version,
            enabled=enabled,
            user=user,
            on=on,
            name=name,
            agent=agent,
            when=when,
            condition=condition,
            hit=hit,
            log=log,
        )
        return answer

    def delete_breakpoint(self, app: str, number: int) -> DeletedJson:
        """Delete a breakpoint.

        Deleting a breakpoint that doesn't exist isn't an error.
        """
        answer: DeletedJson = self._delete("api", "apps", app, "breakpoints", number)
        return answer

    def hits(
        self,
        session: int,
        breakpoint: int,
        *,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> PastHitsJson:
        """List the events a breakpoint would have hit.

        Args:
            breakpoint: The number of one of the app's breakpoints.
            after: The first hits after this event.
            before: The last hits before this event.
            limit: The maximum number to return.
        """
        answer: PastHitsJson = self._get(
            "api",
            "sessions",
            session,
            "hits",
            breakpoint=breakpoint,
            after=after,
            before=before,
            limit=limit,
        )
        return answer

    def try_breakpoint(
        self,
        session: int,
        on: On,
        *,
        name: str = "*",
        agent: str = "*",
        when: Literal["before", "after"] = "before",
        condition: str = "",
        hit: str = "",
        log: str = "",
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
    ) -> PastHitsJson:
        """List the events an unsaved breakpoint would have hit."""
        answer: PastHitsJson = self._post(
            "api",
            "sessions",
            session,
            "hits",
            on=on,
            name=name,
            agent=agent,
            when=when,
            condition=condition,
            hit=hit,
            log=log,
            after=after,
            before=before,
            limit=limit,
        )
        return answer

    def compare(self, left: str, right: str) -> ComparisonJson:
        """Compare two sessions or runs.

        Aligned row by row, see comparing (docs/guide/debugging.md#comparing).

        Args:
            left: A session by its number, or one of its runs: 12, or 12@2.
            right: The other side, in the same form.
        """
        answer: ComparisonJson = self._get("api", "compare", left=left, right=right)
        return answer

    def compare_events(
        self,
        left: str,
        right: str,
        *,
        left_event: int | None = None,
        right_event: int | None = None,
    ) -> EventComparisonJson:
        """Compare two events.

        One of the two may be omitted.

        Args:
            left: A session by its number, or one of its runs: 12, or 12@2.
            right: The other side, in the same form.
            left_event: The number of an event of the left side.
            right_event: The number of an event of the right side.
        """
        answer: EventComparisonJson = self._get(
            "api",
            "compare",
            "events",
            left=left,
            right=right,
            leftEvent=left_event,
            rightEvent=right_event,
        )
        return answer

    def memory(self, app: str, *, user: str | None = None, q: str | None = None) -> MemoryJson:
        """List or search an app's memory.

        devui.runtime's services can be listed and searched, google-adk's only searched. Loads the
        app.

        Args:
            user: The user whose memories to search; `user` by default.
            q: Words to search for; without them the newest memories.
        """
        answer: MemoryJson = self._get("api", "apps", app, "memory", user=user, q=q)
        return answer

    def tools(self, app: str) -> ToolsJson:
        """List an app's tools and their side effects.

        See effect classes (docs/guide/debugging.md#before-a-tool-runs-twice). Loads the app.
        """
        answer: ToolsJson = self._get("api", "apps", app, "tools")
        return answer

    def set_effect(self, app: str, tool: str, effect: EffectChoice | None) -> ToolJson:
        """Set a tool's side effects; null resets them."""
        answer: ToolJson = self._put(
            "api", "apps", app, "tools", tool, effect=effect, actor=self.actor
        )
        return answer

    def try_tool(
        self,
        app: str,
        tool: str,
        *,
        args: dict[str, Any] | None = None,
        agent: str | None = None,
        session: int | None = None,
        event: int | None = None,
        confirm: bool = False,
    ) -> TrialJson:
        """Run a tool on its own, with a copy of the state.

        Runs a tool alone (docs/guide/debugging.md#one-call-by-itself) on the state of a session,
        now or as of an event. A tool that may have effects runs only with `confirm`.
        """
        answer: TrialJson = self._post(
            "api",
            "apps",
            app,
            "tools",
            tool,
            "trials",
            args=args,
            agent=agent,
            session=session,
            event=event,
            confirm=confirm,
            actor=self.actor,
        )
        return answer

    def trials(self, session: int, *, span: int | None = None) -> list[TrialJson]:
        """List a session's trials, newest first.

        Args:
            span: Only those of this model call.
        """
        answer: list[TrialJson] = self._get("api", "sessions", session, "trials", span=span)[
            "trials"
        ]
        return answer

    def try_model(self, session: int, span: int, request: dict[str, Any]) -> TrialJson:
        """Repeat a recorded model call with an edited request.

        `request` is an edited copy of the `sent` of its span.
        """
        answer: TrialJson = self._post(
            "api", "sessions", session, "spans", span, "trials", request=request, actor=self.actor
        )
        return answer

    def events(
        self,
        session: int,
        *,
        after: int | None = None,
        limit: int | None = None,
        last: int | None = None,
        filter: str | None = None,
    ) -> list[EventRowJson]:
        """List events as timeline rows.

        `rewoundBy` is the number of the rewind that removed the event, or null. An invalid filter
        (docs/guide/debugging.md#filtering-the-timeline) is refused with the place of the error.

        Args:
            after: The number of an event.
            limit: The maximum number to return, starting after `after`.
            last: Return only the last N events.
            filter: Only events that match this filter, as in the field above the timeline.
        """
        answer: list[EventRowJson] = self._get(
            "api", "sessions", session, "events", after=after, limit=limit, last=last, filter=filter
        )["events"]
        return answer

    def event(self, session: int, number: int) -> AdkEventJson:
        """Get one event in full.

        The event is complete, whatever its size; pages show only the beginning of a long text.
        """
        answer: AdkEventJson = self._get("api", "sessions", session, "events", number)["event"]
        return answer

    def filter_words(self, session: int) -> list[FilterWordJson]:
        """List the values a filter can use, with the number of matching events."""
        answer: list[FilterWordJson] = self._get("api", "sessions", session, "filter")["words"]
        return answer

    def state(self, session: int, *, at: int | None = None, from_: int | None = None) -> StateJson:
        """Get the state, now or as of an event, and what changed since another event.

        `writer` is `event`, `initial` or `elsewhere` (another session). `pending` is state before
        its commit (docs/guide/debugging.md#state-before-its-commit).

        Args:
            at: The number of an event; 0 is before the first.
            from_: Include the changes since this event; 0 is before the first.
        """
        answer: StateJson = self._get("api", "sessions", session, "state", at=at, **{"from": from_})
        return answer

    def key_history(
        self,
        session: int,
        key: str,
        *,
        scope: Scope | None = None,
        path: str | None = None,
        at: int | None = None,
    ) -> KeyHistoryJson:
        """List the writes of a state key.

        Returns the newest 200, oldest first. With `path`, returns the writes that changed that part
        of the value, and in `by` the one it comes from.

        Args:
            key: The key, with its prefix.
            scope: `session`, `user` or `app`, for a key without its prefix.
            path: A place in the value: `steps[2].done`.
            at: Writes up to this event; 0 is before the first.
        """
        answer: KeyHistoryJson = self._get(
            "api", "sessions", session, "state", "history", key=key, scope=scope, path=path, at=at
        )
        return answer

    def stream(
        self, session: int, *, after: int | None = None, run: str | None = None
    ) -> Stream[EventNewsJson | OutputNewsJson | PositionNewsJson | DeletedNewsJson]:
        """Stream everything that happens, as server-sent events of JSON.

        Starts after the event `after` or the `Last-Event-ID`. A client that reconnects to a deleted
        session gets 204, after which an EventSource stops.

        Args:
            after: The number of an event.
            run: Send the position of this run first, even if it has ended.
        """
        answer: Stream[EventNewsJson | OutputNewsJson | PositionNewsJson | DeletedNewsJson] = (
            self._follow("api", "sessions", session, "stream", after=after, run=run)
        )
        return answer

    def uncommitted(
        self, session: int, *, run: str | None = None, event: int | None = None
    ) -> UncommittedStateJson:
        """List uncommitted state: who wrote it, who read it, and what became of it.

        See state before its commit (docs/guide/debugging.md#state-before-its-commit).

        Args:
            run: Only those of this run.
            event: Only what this event committed, read or was flagged with.
        """
        answer: UncommittedStateJson = self._get(
            "api", "sessions", session, "uncommitted", run=run, event=event
        )
        return answer

    def cutoff(self, session: int) -> CutoffJson:
        """Get a session's interruption: what was lost, and which calls have an unknown outcome.

        The guide explains resuming (docs/guide/api.md#resuming).
        """
        answer: CutoffJson = self._get("api", "sessions", session, "cutoff")
        return answer

    def close_invocation(self, session: int) -> CutoffJson:
        """Mark an interrupted invocation as stopped.

        Ends it without resuming it.
        """
        answer: CutoffJson = self._post("api", "sessions", session, "close")
        return answer

    def forks(self, session: int) -> LineageJson:
        """Get a session's parent, siblings and forks."""
        answer: LineageJson = self._get("api", "sessions", session, "forks")
        return answer

    def fork(
        self,
        session: int,
        number: int,
        *,
        message: bool = False,
        state: dict[str, Any] | None = None,
        event: Mapping[str, Any] | None = None,
        note: str | None = None,
        id: str | None = None,
        run: bool = False,
        streaming: bool | None = None,
        guard: Policy = "ask",
    ) -> NewForkJson:
        """Fork a session at an event.

        Makes a session from the events up to `number`. The guide explains forking and going back
        (docs/guide/api.md#forking-and-going-back).
        """
        answer: NewForkJson = self._post(
            "api",
            "sessions",
            session,
            "forks",
            number=number,
            message=message,
            state=state,
            event=event,
            note=note,
            id=id,
            run=run,
            streaming=streaming,
            guard=guard,
            actor=self.actor,
        )
        return answer

    def rewind(
        self,
        session: int,
        *,
        invocation_id: str | None = None,
        number: int | None = None,
        message: str | None = None,
        streaming: bool | None = None,
        guard: Policy = "ask",
    ) -> PositionJson:
        """Rewind a session to before an invocation, optionally with a new message.

        `number` or `invocationId` names the invocation. The rewind is a run of its own.
        """
        answer: PositionJson = self._post(
            "api",
            "sessions",
            session,
            "rewind",
            invocationId=invocation_id,
            number=number,
            message=message,
            streaming=streaming,
            guard=guard,
            actor=self.actor,
        )
        return answer

    def runs(self, session: int) -> list[RunJson]:
        """List a session's runs, oldest first."""
        answer: list[RunJson] = self._get("api", "sessions", session, "runs")["runs"]
        return answer

    def recording(self, session: int, *, run: str | None = None) -> dict[str, Any]:
        """Export a run as a recording that can be replayed elsewhere.

        It has everything needed to execute the run without this server and, like an export, no
        secrets.

        Args:
            run: The run's id; by default the newest one.
        """
        answer: dict[str, Any] = self._get("api", "sessions", session, "recording", run=run)
        return answer

    def start_replay(
        self,
        session: int,
        *,
        run: str | None = None,
        live_tools: bool = False,
        guard: Policy = "ask",
        pause: bool = False,
        breakpoints: bool = True,
        engine: ReplayEngine | None = None,
        note: str | None = None,
    ) -> ReplayJson:
        """Replay a run in a fork, with recorded model and tool answers.

        Uses the app's engine, or `google-adk`, `devui` or the `other` one, which continues after
        differences. The guide explains replaying (docs/guide/api.md#replaying).
        """
        answer: ReplayJson = self._post(
            "api",
            "sessions",
            session,
            "replays",
            run=run,
            liveTools=live_tools,
            guard=guard,
            pause=pause,
            breakpoints=breakpoints,
            engine=engine,
            note=note,
            actor=self.actor,
        )
        return answer

    def replay(self, run: str) -> ReplayJson:
        """Get a replay's source and result."""
        answer: ReplayJson = self._get("api", "runs", run, "replay")
        return answer

    def test_offer(self, session: int, *, run: str | None = None) -> TestOfferJson:
        """List the checks a test of the session can make.

        Args:
            run: A run's id; by default all that can be replayed.
        """
        answer: TestOfferJson = self._get("api", "sessions", session, "test", run=run)
        return answer

    def make_test(
        self,
        session: int,
        *,
        run: str | None = None,
        checks: list[str] | None = None,
        by_run: dict[str, list[str]] | None = None,
        name: str | None = None,
        agent: str | None = None,
        keep_secrets: bool = False,
        file: str | None = None,
        overwrite: bool = False,
    ) -> SavedTestJson:
        """Make a test file with recordings; it is only written if a file is named.

        The session becomes a test (docs/guide/testing.md). The guide explains the members
        (docs/guide/api.md#tests).
        """
        answer: SavedTestJson = self._post(
            "api",
            "sessions",
            session,
            "test",
            run=run,
            checks=checks,
            byRun=by_run,
            name=name,
            agent=agent,
            keepSecrets=keep_secrets,
            file=file,
            overwrite=overwrite,
        )
        return answer

    def edits(self, session: int) -> list[EditJson]:
        """List edits made by people.

        Each edit has what was held and what replaced it.
        """
        answer: list[EditJson] = self._get("api", "sessions", session, "edits")["edits"]
        return answer

    def usage(self, session: int, *, until: int | None = None) -> UsageJson:
        """Get token usage and cost.

        Costs are in US dollars, null if unknown (prices (docs/guide/debugging.md#tokens-and-cost)).

        Args:
            until: The number of the last event to count.
        """
        answer: UsageJson = self._get("api", "sessions", session, "usage", until=until)
        return answer

    def spans(
        self, session: int, *, after: int | None = None, event: int | None = None
    ) -> list[SpanJson]:
        """List the spans of agents, models, and tools.

        Args:
            after: Only spans with a higher id; at most 1,000 are returned.
            event: Only those that produced this event; in a fork also the parent's.
        """
        answer: list[SpanJson] = self._get(
            "api", "sessions", session, "spans", after=after, event=event
        )["spans"]
        return answer

    def trace(self, session: int, *, run: str | None = None) -> TraceJson:
        """Export spans as OTLP JSON.

        The spans have the attributes of OpenTelemetry's conventions for generative AI, without
        message content.

        Args:
            run: Only those of this run.
        """
        answer: TraceJson = self._get("api", "sessions", session, "trace", run=run)
        return answer

    def span(self, session: int, span: int) -> SpanWithBodiesJson:
        """Get one span, with its request and response."""
        answer: SpanWithBodiesJson = self._get("api", "sessions", session, "spans", span)
        return answer

    def compare_prompts(
        self, session: int, span: int, *, with_: int | None = None
    ) -> PromptDiffJson:
        """Compare two model requests.

        Shows how what was sent (docs/guide/debugging.md#what-was-sent) to a model differs. Blocks
        are aligned by their text; `breaksCache` marks where the cached prefix ends.

        Args:
            with_: The id of the span to compare with; by default the agent's previous call.
        """
        answer: PromptDiffJson = self._get(
            "api", "sessions", session, "spans", span, "diff", **{"with": with_}
        )
        return answer

    def import_spans(self, traces: dict[str, Any]) -> TraceExportJson:
        """Save exported spans as sessions.

        An OTLP export request, as protobuf or JSON, optionally gzipped: sessions of agents that ran
        elsewhere (docs/guide/opentelemetry.md#receive-traces). Rejected spans are counted in
        `partialSuccess`; errors follow OTLP.
        """
        answer: TraceExportJson = self._upload(traces, "v1", "traces")
        return answer
