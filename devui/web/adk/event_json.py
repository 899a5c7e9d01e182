"""Events in ADK's format, as clients get them from `/run`, from sessions and from the debugger.

Members that an event doesn't have are absent, never null. Rarely used members, such as the sources
of an answer, are objects in google-genai's format.
"""

from typing import Any, NotRequired, Required

from typing_extensions import TypedDict


class AdkBlobJson(TypedDict, total=False):
    """Bytes inside an event or an artifact."""

    data: str
    """Base64, URL-safe."""
    mimeType: str
    displayName: str


class AdkFileDataJson(TypedDict, total=False):
    """A file that is stored elsewhere."""

    fileUri: str
    mimeType: str
    displayName: str


class AdkFunctionCallJson(TypedDict, total=False):
    """A function call requested by a model or an agent."""

    id: str
    name: str
    args: dict[str, Any]
    partialArgs: list[dict[str, Any]]
    willContinue: bool


class AdkFunctionResponseJson(TypedDict, total=False):
    """The response to a function call, which may come from a person."""

    id: str
    name: str
    response: dict[str, Any]
    parts: list[dict[str, Any]]
    """The files in the response."""
    scheduling: str
    willContinue: bool


class AdkExecutableCodeJson(TypedDict, total=False):
    """Code that a model wrote."""

    id: str
    code: str
    language: str


class AdkCodeExecutionResultJson(TypedDict, total=False):
    """The result of executing code."""

    id: str
    outcome: str
    output: str


class AdkPartJson(TypedDict, total=False):
    """One part of a content; also an artifact."""

    text: str
    thought: bool
    """Whether the text is the model's thinking."""
    thoughtSignature: str
    """Base64, URL-safe."""
    inlineData: AdkBlobJson
    fileData: AdkFileDataJson
    functionCall: AdkFunctionCallJson
    functionResponse: AdkFunctionResponseJson
    executableCode: AdkExecutableCodeJson
    codeExecutionResult: AdkCodeExecutionResultJson
    toolCall: dict[str, Any]
    toolResponse: dict[str, Any]
    mediaProcessing: str
    mediaResolution: dict[str, Any]
    videoMetadata: dict[str, Any]
    audioMetadata: dict[str, Any]
    documentMetadata: dict[str, Any]
    spreadsheetMetadata: dict[str, Any]
    speechMetadata: dict[str, Any]
    audioTranscription: dict[str, Any]
    partMetadata: dict[str, Any]


class AdkContentJson(TypedDict, total=False):
    """The content of a message."""

    role: str
    """`user` or `model`, as the model sees it."""
    parts: list[AdkPartJson]


class AdkConfirmationJson(TypedDict):
    """A request to confirm a tool call, and the answer."""

    hint: str
    """Why confirmation is needed."""
    confirmed: bool
    payload: NotRequired[Any]
    """The data that the tool asks for."""


class AdkCompactionJson(TypedDict):
    """A summary that replaces a range of events."""

    startTimestamp: float
    endTimestamp: float
    compactedContent: AdkContentJson


class AdkUiWidgetJson(TypedDict):
    """A widget that a tool asks the user interface to render."""

    id: str
    provider: str
    payload: dict[str, Any]


class AdkActionsJson(TypedDict, total=False):
    """The effects of an event, apart from its content."""

    stateDelta: Required[dict[str, Any]]
    """State keys with their prefixes, and their new values."""
    artifactDelta: Required[dict[str, int]]
    """Names of saved files, and their new versions."""
    requestedAuthConfigs: Required[dict[str, Any]]
    """By the id of the call that requires a sign-in."""
    requestedToolConfirmations: Required[dict[str, AdkConfirmationJson]]
    """By the id of the call that awaits confirmation."""
    skipSummarization: bool
    transferToAgent: str
    transferReason: str
    escalate: bool
    compaction: AdkCompactionJson
    endOfAgent: bool
    agentState: dict[str, Any]
    rewindBeforeInvocationId: str
    route: bool | int | str | list[bool | int | str]
    """The route that the workflow takes next."""
    renderUiWidgets: list[AdkUiWidgetJson]
    setModelResponse: Any


class AdkNodeInfoJson(TypedDict, total=False):
    """The workflow node or agent that produced an event."""

    path: Required[str]
    """`flow@1/writer@2`; "" if no node produced the event."""
    outputFor: list[str]
    messageAsOutput: bool


class AdkUsageJson(TypedDict, total=False):
    """The tokens of a model call."""

    promptTokenCount: int
    candidatesTokenCount: int
    thoughtsTokenCount: int
    cachedContentTokenCount: int
    toolUsePromptTokenCount: int
    totalTokenCount: int
    promptTokensDetails: list[dict[str, Any]]
    candidatesTokensDetails: list[dict[str, Any]]
    cacheTokensDetails: list[dict[str, Any]]
    toolUsePromptTokensDetails: list[dict[str, Any]]
    trafficType: str


class AdkTranscriptionJson(TypedDict, total=False):
    """A transcription of speech."""

    text: str
    finished: bool
    languageCode: str
    speakerLabel: str
    words: list[dict[str, Any]]
    startOffset: str
    endOffset: str


class AdkEventJson(TypedDict, total=False):
    """An event in ADK's format."""

    id: Required[str]
    invocationId: Required[str]
    author: Required[str]
    """The agent's name, or `user`."""
    timestamp: Required[float]
    """Seconds since the epoch."""
    actions: Required[AdkActionsJson]
    content: AdkContentJson
    partial: bool
    """Whether this is a piece of a streamed answer; the whole answer follows with the same id."""
    output: Any
    """The output of a workflow node."""
    nodeInfo: AdkNodeInfoJson
    longRunningToolIds: list[str]
    """The ids of calls that are answered later."""
    branch: str
    """The names of agents, joined by dots."""
    isolationScope: str
    customMetadata: dict[str, Any]
    errorCode: str
    errorMessage: str
    finishReason: str
    modelVersion: str
    usageMetadata: AdkUsageJson
    avgLogprobs: float
    logprobsResult: dict[str, Any]
    groundingMetadata: dict[str, Any]
    citationMetadata: dict[str, Any]
    cacheMetadata: dict[str, Any]
    interactionId: str
    interactionStatus: str
    environmentId: str
    turnComplete: bool
    turnCompleteReason: str
    interrupted: bool
    inputTranscription: AdkTranscriptionJson
    outputTranscription: AdkTranscriptionJson
    voiceActivity: dict[str, Any]
    liveSessionId: str
    liveSessionResumptionUpdate: dict[str, Any]
    goAway: dict[str, Any]
