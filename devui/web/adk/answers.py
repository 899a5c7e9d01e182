"""Response models of ADK's REST API, except events: apps, sessions, artifacts, spans, graphs."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from devui.web.adk.event_json import AdkEventJson


class AdkHealthJson(TypedDict):
    """The server is up."""

    status: Literal["ok"]


class AdkVersionJson(TypedDict):
    """The versions of the server."""

    version: str
    """The version of devui."""
    language: str
    language_version: str
    sqlite_version: str
    """The version of the SQLite library that writes the journal."""


class AdkDeclarationJson(TypedDict, total=False):
    """The declaration of a tool, as sent to models."""

    name: str
    description: str
    parameters: dict[str, Any]
    parametersJsonSchema: Any
    response: dict[str, Any]
    responseJsonSchema: Any
    behavior: str


class AdkToolJson(TypedDict):
    """A tool of an agent."""

    functionDeclarations: list[AdkDeclarationJson]


class AdkAgentJson(TypedDict):
    """An agent of an app."""

    name: str
    description: str
    instruction: str
    """The text, or `<InstructionProvider: name>` for a function."""
    tools: list[AdkToolJson]
    sub_agents: list[str]


class _AppJson(TypedDict):
    """The name, description and properties of an app."""

    name: str
    rootAgentName: str
    description: str
    language: str
    isComputerUse: bool


class AdkAppJson(_AppJson):
    """An app in a list."""

    agents: None


class AdkAppsJson(TypedDict):
    """The apps that can be loaded."""

    apps: list[AdkAppJson]


class AdkAppInfoJson(_AppJson):
    """An app with its agents."""

    agents: dict[str, AdkAgentJson]
    """The agents by name; an agent comes after its sub-agents."""


class AdkErrorDetailsJson(TypedDict):
    """Why a run failed, in parts."""

    error_type: str
    error_message: str
    timestamp: float


class AdkRunErrorJson(TypedDict):
    """Why a run failed, as the last message of its stream."""

    error: str
    """`Type: message`."""
    error_details: AdkErrorDetailsJson


class AdkSessionJson(TypedDict):
    """A session; in a list, it comes without its events."""

    id: str
    appName: str
    userId: str
    state: dict[str, Any]
    """Keys with their prefixes, and their values."""
    events: list[AdkEventJson]
    lastUpdateTime: float
    """Seconds since the epoch."""


class AdkArtifactVersionJson(TypedDict):
    """One version of a file."""

    version: int
    canonicalUri: str
    """The URI; it contains no path."""
    customMetadata: dict[str, Any]
    createTime: float
    """Seconds since the epoch."""
    mimeType: str


class AdkSpanLogJson(TypedDict):
    """The messages of a model call."""

    event_name: str
    body: None
    attributes: dict[str, Any]


class AdkSpanJson(TypedDict):
    """A finished span."""

    name: str
    start_time: int
    """Nanoseconds since the epoch."""
    end_time: int
    trace_id: int
    span_id: int
    parent_span_id: int | None
    attributes: dict[str, Any]
    """Attributes, named by OpenTelemetry's conventions for generative AI."""
    logs: list[AdkSpanLogJson]


class AdkPluginJson(TypedDict):
    """A plugin of an app."""

    name: str


class AdkBuildJson(TypedDict):
    """The structure of an app."""

    name: str
    root_agent: dict[str, Any]
    """The agent's settings, with `sub_agents`, `tools`, and the `graph` of a workflow."""
    plugins: NotRequired[list[AdkPluginJson]]
    context_cache_config: NotRequired[dict[str, Any]]
    resumability_config: NotRequired[dict[str, Any]]
    readme: NotRequired[str]
    """The text of the app's README."""


class AdkGraphJson(TypedDict):
    """A graph in Graphviz's DOT language."""

    dotSrc: str


class AdkEventGraphJson(TypedDict, total=False):
    """A graph with an event's calls and answers highlighted; empty for an unknown event."""

    dotSrc: str


class AdkTelemetryJson(TypedDict):
    """Whether the front end may report usage data: never."""

    telemetry: Literal[False]


class AdkFrontEndJson(AdkTelemetryJson):
    """The configuration of ADK's front end."""

    backendUrl: str


class AdkLogoJson(TypedDict):
    """The logo of ADK's front end, which has none here."""

    logo_text: None
    logo_image_url: None


class AdkEvalSetsJson(TypedDict):
    """An empty list of eval sets."""

    evalSetIds: list[str]


class AdkEvalResultsJson(TypedDict):
    """An empty list of evaluation results."""

    evalResultIds: list[str]


class AdkMetricsJson(TypedDict):
    """An empty list of evaluation metrics."""

    metricsInfo: list[dict[str, Any]]
