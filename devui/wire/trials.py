"""Trials: one call of a tool or a model by itself, outside of any run; nothing of it is committed.

Arguments, requests, states and results are JSON texts.
"""

from dataclasses import dataclass
from typing import Literal

Confirmation = Literal["always", "sometimes", "never"]
"""Whether a person confirms a tool's calls; `sometimes`: a function of the app decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTools:
    """Tell which tools the agents have; answered by `Tried` with `tools`, a list of `{"agent",
    "name", "description", "schema", "returns", "effect", "is_long_running", "confirmation"}`, and
    `silent`, the toolsets that list none, as `{"agent", "toolset", "error"}`."""

    trial: int
    kind: Literal["describe_tools"] = "describe_tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class TryTool:
    """Call a tool of an agent over a copy of a state; answered by `Tried` with
    `{"result", "actions"}`."""

    trial: int
    agent: str
    tool: str
    args: str
    user: str
    session: str
    state: str
    """The state that the tool finds, prefixes included."""
    kind: Literal["try_tool"] = "try_tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class TryModel:
    """Ask an agent's model; answered by `Tried` with the list of its responses."""

    trial: int
    agent: str
    request: str
    """`{"model", "system", "contents", "tools", "config"}`."""
    kind: Literal["try_model"] = "try_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeApp:
    """Tell what the app's agents are told; answered by `Tried` with the object of `agents` by name
    that ADK's `app-info` has, or null where the root is no LlmAgent."""

    trial: int
    kind: Literal["describe_app"] = "describe_app"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeBuild:
    """Tell how the app is put together; answered by `Tried` with `build`, the object that ADK's
    `build_graph` answers with, and `kinds`, the class of an agent or a tool by its name where a
    graph draws it in a way of its own."""

    trial: int
    kind: Literal["describe_build"] = "describe_build"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckModel:
    """Tell whether a run can use a model; answered by `Tried` with null, or with the error that
    asking for it would end in."""

    trial: int
    model: str
    kind: Literal["check_model"] = "check_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckEdit:
    """Tell whether a value can take the place of what is held at a gate; answered by `Tried` with
    "", or with what is wrong with it."""

    trial: int
    gate: str
    action: Literal["edit", "mock"]
    value: str
    held: str
    kind: Literal["check_edit"] = "check_edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember:
    """Add a session to the app's memory; answered by `Tried` with null."""

    trial: int
    user: str
    session: str
    kind: Literal["remember"] = "remember"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Look into the app's memory of a user; answered by `Tried` with `{"service", "listed",
    "memories"}`: the class of the service, whether it could be listed, and the memories in wire
    form."""

    trial: int
    user: str
    query: str
    """Words to search for; "" lists the newest memories, where the service can."""
    limit: int
    kind: Literal["recall"] = "recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTrial:
    """Nobody waits for it any more."""

    trial: int
    kind: Literal["stop_trial"] = "stop_trial"


Trial = (
    DescribeTools
    | TryTool
    | TryModel
    | DescribeApp
    | DescribeBuild
    | CheckModel
    | CheckEdit
    | Remember
    | Recall
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What came of a trial: a result as JSON text, or the error as that of an agent is told."""

    trial: int
    seconds: float
    result: str | None = None
    error: str | None = None
    """JSON text of an `AgentError`."""
    kind: Literal["tried"] = "tried"
