"""Trials: single calls of a tool or model outside any run; nothing is committed.

Arguments, requests, states and results are JSON texts.
"""

from dataclasses import dataclass
from typing import Literal

Confirmation = Literal["always", "sometimes", "never"]
"""Whether a person confirms a tool's calls; for `sometimes`, a function of the app decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTools:
    """List the agents' tools; answered by `TrialResult` with `tools`, a list of `{"agent", "name",
    "description", "schema", "returns", "effect", "is_long_running", "confirmation"}`, and `silent`,
    the toolsets that couldn't list theirs, as `{"agent", "toolset", "error"}`."""

    trial: int
    kind: Literal["describe_tools"] = "describe_tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class TryTool:
    """Call an agent's tool with a copy of a state; answered by `TrialResult` with
    `{"result", "actions"}`."""

    trial: int
    agent: str
    tool: str
    args: str
    user: str
    session: str
    state: str
    """The state that the tool sees, prefixes included."""
    kind: Literal["try_tool"] = "try_tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class TryModel:
    """Call an agent's model; answered by `TrialResult` with the list of its responses."""

    trial: int
    agent: str
    request: str
    """`{"model", "system", "contents", "tools", "config"}`."""
    kind: Literal["try_model"] = "try_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeApp:
    """Describe the app's agents; answered by `TrialResult` with the `agents` object, by name, of
    ADK's `app-info`, or null if the root isn't an LlmAgent."""

    trial: int
    kind: Literal["describe_app"] = "describe_app"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeBuild:
    """Describe how the app is built; answered by `TrialResult` with `build`, the object that ADK's
    `build_graph` returns, and `kinds`, the classes of the agents and tools, by name, that a graph
    draws in a special way."""

    trial: int
    kind: Literal["describe_build"] = "describe_build"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckModel:
    """Check whether a run can use a model; answered by `TrialResult` with null, or with the error
    that using the model would raise."""

    trial: int
    model: str
    kind: Literal["check_model"] = "check_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckEdit:
    """Check whether a value can replace what is held at a gate; answered by `TrialResult` with ""
    or the problem."""

    trial: int
    gate: str
    action: Literal["edit", "mock"]
    value: str
    held: str
    kind: Literal["check_edit"] = "check_edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddToMemory:
    """Add a session to the app's memory; answered by `TrialResult` with null."""

    trial: int
    user: str
    session: str
    kind: Literal["remember"] = "remember"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Search the app's memory of a user; answered by `TrialResult` with `{"service", "listed",
    "memories"}`: the class of the service, whether it could list its memories, and the memories in
    wire form."""

    trial: int
    user: str
    query: str
    """The words to search for; "" lists the newest memories, if the service can."""
    limit: int
    kind: Literal["recall"] = "recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTrial:
    """Stop a trial whose result nobody needs any more."""

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
    | AddToMemory
    | Recall
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """The outcome of a trial: a result as JSON text, or an error."""

    trial: int
    seconds: float
    result: str | None = None
    error: str | None = None
    """JSON text of an `AgentError`."""
    kind: Literal["tried"] = "tried"
