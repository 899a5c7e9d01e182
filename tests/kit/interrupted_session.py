"""Sessions whose runs are interrupted, and what must hold whatever happens."""

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from random import Random
from typing import Any

from google.genai import types

from devui.runtime.agents import RunConfig
from devui.runtime.agents.run_config import StreamingMode
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.calling import active_threads
from devui.runtime.events import Event
from devui.runtime.runners import Runner
from devui.runtime.sessions import InMemorySessionService
from tests.kit.interruptible_tree import ABORTED, Hooks, InterruptibleTree
from tests.kit.interruptions import Interrupter
from tests.kit.patience import PATIENCE
from tests.kit.waiting_agents import question_of, reply

WHERE = {"user_id": "user", "session_id": "s"}
MANY = 400
"""More model calls than any run of these trees makes."""


class InterruptedSession:
    """A session with a tree, run by run."""

    def __init__(self, seed: int, *, resumable: bool, service: Any = None, **tree: Any) -> None:
        self.random = Random(seed)
        self.interrupter = Interrupter()
        self._ids = 0
        self.contexts: list[Any] = []
        self.runs: list[tuple[int, str]] = []
        self.log: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.yielded: list[Event] = []
        self.service = service or InMemorySessionService()
        self.resumable = resumable
        self._seed = seed
        self._stepwise = self.random.random() < 0.2
        self._tree = tree
        self.tree: Any = None
        self.outcome = ""
        self.story: list[Any] = []

    # Called by the tree's code

    def new_id(self) -> str:
        """Return a new id for a call."""
        self._ids += 1
        return f"call-{self._ids}"

    def note(self, what: str) -> None:
        """Count an action."""
        self.log[what] += 1

    async def called(self, tool_context: Any) -> None:
        """Record as wrong a call that already has its result."""
        ctx = tool_context.get_invocation_context()
        session = await self._read_session(ctx.session.id, ctx.session_service)
        for event in session.events:
            for each in event.get_function_responses():
                if each.name.startswith("login"):
                    continue
                if (
                    each.id == tool_context.function_call_id
                    and "error" not in (each.response or {})
                    and event.author != "user"
                ):
                    self.wrong.append(f"{each.name} is run again")

    def look_at(self, me: str, request: Any) -> None:
        """Record as wrong a request that no provider would accept."""
        calls: dict[str, str] = {}
        for content in request.contents:
            for part in content.parts or []:
                if part.function_call:
                    calls[part.function_call.id or ""] = part.function_call.name or ""
                r = part.function_response
                if r and calls.get(r.id or "") != r.name:
                    self.wrong.append(f"{me} is told of a call {r.name} that it has not made")

    # Runs

    async def begin(self) -> None:
        """Create the session."""
        await self.service.create_session(app_name="app", **WHERE)

    async def run(self, interrupter: Interrupter, **what: Any) -> str:
        """Run with an interruption, record what is wrong, and return how the run ended."""
        self.interrupter, self.runs, self.contexts = interrupter, [], []
        self.tree = InterruptibleTree(self, self._seed, **self._tree)
        interrupter.patient = self.tree.around in ("steps", "rounds", "both")
        settings = ResumabilityConfig(is_resumable=self.resumable)
        app = App(
            name="app",
            root_agent=self.tree.root,
            resumability_config=settings,
            plugins=[Hooks(self)],
        )
        runner = Runner(app=app, session_service=self.service)
        before = len((await self._read_session("s")).events)
        self.yielded = []
        with self._nothing_left_over():
            self.outcome = await self._bounded(runner, what)
            await self._settled()
        await self._check(before)
        if self.wrong:
            self.story += [self._seed, self.wrong]
        about = what.get("invocation_id") or _brief(what.get("new_message"))
        self.story.append(f"{about}: {interrupter} -> {self.outcome}")
        return self.outcome

    @contextmanager
    def _nothing_left_over(self) -> Iterator[None]:
        """Record errors that only the event loop sees, and leftover tasks and threads."""
        tasks, loop, hook = asyncio.all_tasks(), asyncio.get_running_loop(), sys.unraisablehook
        noises: list[Any] = []
        loop.set_exception_handler(lambda _, context: noises.append(context))
        sys.unraisablehook = lambda noise: noises.append(noise.exc_value)
        try:
            yield
        finally:
            loop.set_exception_handler(None)
            sys.unraisablehook = hook
        self._blame("tasks are left", asyncio.all_tasks() - tasks)
        self._blame("threads are left", active_threads())
        self._blame("noises", noises)

    async def _settled(self) -> None:
        """Wait for the plain functions that nobody could stop."""
        gc.collect()
        await asyncio.sleep(0)
        for _ in range(PATIENCE * 100):
            if not active_threads():
                return
            await asyncio.sleep(0.01)

    async def _bounded(self, runner: Runner, what: dict[str, Any]) -> str:
        mode = self.random.choice([StreamingMode.SSE, StreamingMode.NONE, StreamingMode.NONE])
        budget = what.pop("budget", None) or MANY
        config = RunConfig(max_llm_calls=budget, streaming_mode=mode)
        task = asyncio.create_task(self._consume(runner, run_config=config, **what))
        self.interrupter.caller = task
        done, _ = await asyncio.wait([task], timeout=PATIENCE)
        if not done:
            stacks = [str(each.get_stack()) for each in asyncio.all_tasks()]
            task.cancel()
            await asyncio.wait([task], timeout=2)
            self._blame("it hangs", stacks)
            return "hangs"
        if task.cancelled():
            return "cancelled"
        if task.exception() is not None:
            error = task.exception()
            return f"{type(error).__name__}: {error}"
        return task.result()

    async def _consume(self, runner: Runner, **what: Any) -> str:
        events = runner.run_async(**WHERE, abort_signal=self.interrupter.signal, **what)
        if self._stepwise:
            return await self._step_by_step(events)
        try:
            async with aclosing(events):
                async for event in events:
                    self.yielded.append(event)
                    await self.interrupter.moment("event")
                    if self.interrupter.leaves:
                        return "left"
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not (task and task.cancelling()):
                self.wrong.append("a CancelledError that nobody has sent")
            raise
        task = asyncio.current_task()
        if not self.interrupter.has("cancel"):
            self._blame("the caller is being cancelled", task.cancelling() if task else 0)
        return "ended"

    async def _step_by_step(self, events: Any) -> str:
        """Take each event in a task of its own, as a server does that may lose its client."""
        try:
            while not self.interrupter.leaves:
                try:
                    event = await asyncio.create_task(anext(events))
                except StopAsyncIteration:
                    return "ended"
                self.yielded.append(event)
                await self.interrupter.moment("event")
            return "left"
        finally:
            await events.aclose()

    # What must hold

    async def _check(self, before: int) -> None:
        session = await self._read_session("s")
        events = session.events
        ids = [event.id for event in events]
        self._blame("events are doubled", len(ids) - len(set(ids)))
        self._check_yielded(events[before:])
        self._check_pairs(events)
        self._check_state(session)
        if not self.contexts:
            return
        self._check_memory(self.contexts[0].session, session)
        outermost = [what for which, what in self.runs if which == id(self.contexts[0])]
        if self.outcome != "cancelled" and len(outermost) != 2:
            self.wrong.append(f"hooks of runs: {self.runs}, {self.outcome}")

    def _check_memory(self, held: Any, stored_session: Any) -> None:
        if [_dump(e) for e in held.events] != [_dump(e) for e in stored_session.events]:
            self.wrong.append(
                f"memory has {len(held.events)} events, not {len(stored_session.events)}"
            )
        whole = not self.interrupter.came and self.outcome == "ended"  # else memory may be ahead
        if whole and _lasting(held.state) != _lasting(stored_session.state):
            self.wrong.append(
                f"memory has the state {held.state}, the store {stored_session.state}"
            )

    def _check_yielded(self, events: list[Event]) -> None:
        got = [event.id for event in self.yielded if not event.partial]
        stored_ids = [event.id for event in events]
        self._blame("yielded and not kept", [e for e in got if e not in stored_ids])
        new = [event for event in events if event.id in got or not _from_user(event)]
        if [e.id for e in new[: len(got)]] != got:
            self.wrong.append("yielded in another order than kept")
        unheard = new[len(got) :]
        if self.outcome == "ended":
            self._blame("kept and not yielded", [_line(e) for e in unheard])

    def _check_pairs(self, events: list[Event]) -> None:
        calls, answers = {}, Counter()
        for event in events:
            for call in event.get_function_calls():
                self._blame("a call twice", call.id in calls and call.name)
                calls[call.id] = call
            for each in event.get_function_responses():
                self._blame("an answer without a call", each.id not in calls and each)
                asks = (each.name or "").startswith(("consent", "login"))
                if not (asks and not _is_result(each)):
                    answers[each.id, event.author == "user"] += 1
        for (call_id, by_user), number in answers.items():
            name = calls[call_id].name if call_id in calls else "?"
            if number > 1 and not by_user:
                self.wrong.append(f"{number} answers to {name}")

    def _check_state(self, session: Any) -> None:
        fold: dict[str, Any] = {}
        for event in session.events:
            fold.update(event.actions.state_delta)
        fold = {k: v for k, v in fold.items() if not k.startswith("temp:")}
        if fold != session.state:
            self.wrong.append(f"state {session.state} is not what its events say: {fold}")

    def _blame(self, what: str, evidence: Any) -> None:
        if evidence:
            self.wrong.append(f"{what}: {evidence}")

    # Continuing

    async def open(self) -> dict[str, types.FunctionCall]:
        """Return the questions that the user hasn't answered, the latest about each thing."""
        questions: dict[str, types.FunctionCall] = {}
        events = (await self._read_session("s")).events
        graph = self.tree is not None and self.tree.around == "graph"
        if graph:  # every question counts, but only those of the latest invocation
            events = [e for e in events if e.invocation_id == events[-1].invocation_id]
        for event in events:
            for call in event.get_function_calls():
                if name := question_of(call):
                    questions[f"{name} {call.id}" if graph else name] = call
            over = {each.id for each in event.get_function_responses() if _is_over(event, each)}
            questions = {name: call for name, call in questions.items() if call.id not in over}
        return questions

    async def answer(self, interrupter: Interrupter, call: types.FunctionCall) -> str:
        """Answer a question in a run with an interruption."""
        return await self.run(interrupter, new_message=types.UserContent([reply(call)]))

    async def latest(self) -> str:
        """Return the id of the latest invocation."""
        return (await self._read_session("s")).events[-1].invocation_id

    async def told(self) -> Counter[str]:
        """Count how often each agent or node says in the history that it is done."""
        counts: Counter[str] = Counter()
        for event in (await self._read_session("s")).events:
            done = f"{event.author} is done"
            if event.output == "last is done":
                counts["last"] += 1
            for part in (event.content.parts if event.content else None) or []:
                call = part.function_call
                counts[event.author] += part.text == done or (
                    call is not None and call.name == "finish_task"
                )
        return counts

    async def _read_session(self, session: str, service: Any = None) -> Any:
        service = service or self.service
        stored_session = await service.get_session(
            app_name="app", user_id="user", session_id=session
        )
        assert stored_session is not None
        return stored_session

    def heard(self) -> str:
        """Return what was said or output in the latest run."""
        return " ".join(_line(event) for event in self.yielded)


def _is_over(event: Event, response: types.FunctionResponse) -> bool:
    return event.author == "user" or (response.response or {}).get("error") == ABORTED


def _is_result(response: types.FunctionResponse) -> bool:
    answer = response.response or {}
    return "error" not in answer and any(answer.values())


def _from_user(event: Event) -> bool:
    return event.author == "user" and not event.node_info.path


def _lasting(state: Any) -> dict[str, Any]:
    return {k: v for k, v in dict(state).items() if not k.startswith("temp:")}


def _dump(event: Event) -> Any:
    return event.model_dump(mode="json", exclude_none=True)


def _brief(message: types.Content | None) -> str:
    parts = message.parts or [] if message else []
    return " ".join(p.text or str(p.function_response.name) for p in parts)


def _line(event: Event) -> str:
    parts = event.content.parts or [] if event.content else []
    words = [
        p.text
        or (p.function_call and f"{p.function_call.name}()")
        or (p.function_response and f"{p.function_response.name}={p.function_response.response}")
        for p in parts
    ]
    return f"{event.author}[{event.branch}]: {words} {event.output or ''} {event.error_code or ''}"
