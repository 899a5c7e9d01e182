"""Generated cases: requests after histories of any kind. The same number gives the same case.

The events stand in the session before the turn, as other runtimes, clients and edits leave them.
"""

import random
from functools import partial
from typing import Any

from tests.differential.case import Case, add
from tests.kit.rounds import rounds

HISTORIES = rounds(30, 60)
LENGTH = 25


class History:
    """Makes a plausible sequence of events, one invocation after another."""

    def __init__(self, stage: Any, dice: random.Random) -> None:
        self._stage = stage
        self._dice = dice
        self._count = 0
        self._open: list[tuple[str, list[Any]]] = []
        """The calls without a response: those of one event, with their author."""
        self._invocation = "e-0"

    def events(self, length: int) -> list[Any]:
        """Return a list of events, beginning with a text from the user."""
        events = [self._user()]
        kinds = ("user", "text", "text", "thought", "call", "call", "calls", "answer", "answer",
                 "state", "transfer", "blank", "said_and_called", "code", "error")  # fmt: skip
        while len(events) < length:
            event = getattr(self, f"_{self._dice.choice(kinds)}")()
            if event is not None:
                events.append(event)
        while self._open:
            events.append(self._answer())
        return events

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _event(self, author: str, *parts: Any, **fields: Any) -> Any:
        types = self._stage.ns.types
        is_speech = author != "user" and not any(part.function_response for part in parts)
        content = types.Content(role="model" if is_speech else "user", parts=list(parts))
        return self._stage.ns.Event(
            invocation_id=self._invocation,
            author=author,
            content=content if parts else None,
            timestamp=float(self._next()),
            **fields,
        )

    def _speaker(self) -> str:
        return self._dice.choice(["agent", "agent", "agent", "peer"])

    def _words(self) -> Any:
        return self._stage.ns.types.Part(text=f"Words {self._next()}.")

    def _user(self) -> Any:
        self._invocation = f"e-{self._next()}"
        return self._event("user", self._words())

    def _text(self) -> Any:
        return self._event(self._speaker(), self._words())

    def _thought(self) -> Any:
        thought = self._stage.ns.types.Part(text=f"Hm {self._next()}.", thought=True)
        return self._event(self._speaker(), thought, *([self._words()] * self._dice.randrange(2)))

    def _made(self, author: str, several: int = 1) -> list[Any]:
        types = self._stage.ns.types
        numbers = [self._next() for _ in range(several)]
        kind = "adk" if self._dice.random() < 0.7 else "own"
        calls = [
            types.FunctionCall(id=f"{kind}-{n}", name=f"tool{n % 3}", args={"n": n})
            for n in numbers
        ]
        self._open.append((author, calls))
        return [types.Part(function_call=call) for call in calls]

    def _call(self) -> Any:
        author = self._speaker()
        return self._event(author, *self._made(author))

    def _calls(self) -> Any:
        author = self._speaker()
        return self._event(author, *self._made(author, several=self._dice.randrange(2, 4)))

    def _said_and_called(self) -> Any:
        author = self._speaker()
        return self._event(author, self._words(), *self._made(author))

    def _answer(self) -> Any:
        """Return responses to calls of one event, in order: all, some, or one sent twice."""
        if not self._open:
            return None
        author, calls = self._open[-1]
        if self._dice.random() < 0.2:
            return self._event(author, self._response(calls[0]))  # the final response follows later
        ready = calls[: self._dice.randrange(1, len(calls) + 1)]
        del calls[: len(ready)]
        if not calls:
            self._open.pop()
        return self._event(author, *(self._response(call) for call in ready))

    def _response(self, call: Any) -> Any:
        types = self._stage.ns.types
        response = types.FunctionResponse(id=call.id, name=call.name, response={"r": self._next()})
        return types.Part(function_response=response)

    def _state(self) -> Any:
        actions = self._stage.ns.EventActions(state_delta={"n": self._next()})
        return self._event(self._speaker(), actions=actions)

    def _transfer(self) -> Any:
        actions = self._stage.ns.EventActions(transfer_to_agent="agent")
        return self._event("peer", self._words(), actions=actions)

    def _blank(self) -> Any:
        part = self._stage.ns.types.Part(text="")
        return self._event(self._speaker(), part, *([self._words()] * self._dice.randrange(2)))

    def _code(self) -> Any:
        types = self._stage.ns.types
        code = types.ExecutableCode(code=f"print({self._next()})", language="PYTHON")
        result = types.CodeExecutionResult(outcome="OUTCOME_OK", output=str(self._next()))
        parts = types.Part(executable_code=code), types.Part(code_execution_result=result)
        return self._event(self._speaker(), *parts)

    def _error(self) -> Any:
        return self._event(self._speaker(), error_code="SOME", error_message="some")


async def history(stage, number: int) -> None:
    """Play two turns of an agent in a session that has a history."""
    dice = random.Random(f"history {number}")
    peer = stage.agent("peer", *(f"peer says {n}." for n in range(9)))
    fields = {"include_contents": "none"} if dice.random() < 0.15 else {}
    root = stage.agent(
        "agent", *(f"agent says {n}." for n in range(9)), sub_agents=[peer], **fields
    )
    await stage.open(root)
    service = stage.runner.session_service
    session = await service.get_session(app_name="app", user_id="u", session_id="s")
    for event in History(stage, dice).events(dice.randrange(2, LENGTH)):
        await service.append_event(session, event)
    await stage.say("once")
    await stage.say("again")


for _number in range(HISTORIES):
    add(Case(f"history {_number}", partial(history, number=_number)))
