"""Whole requests that reach litellm, by provider."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential import differing_lite_llm as differing
from tests.differential.case import Case, Difference, add
from tests.differential.normal import Json

OPENAI, CLAUDE, GEMINI = "openai/test", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"
GROQ, AZURE, OLLAMA = "groq/test", "azure/test", "ollama_chat/llama3"
Part, Content, Call, Schema = types.Part, types.Content, types.FunctionCall, types.Schema


class Inner(BaseModel):
    z: int


class Shape(BaseModel):
    x: int
    inner: Inner | None = None


class Counts(BaseModel):
    counts: dict[str, int]


@dataclass(frozen=True)
class Asked:
    """A request, and the models that it is sent to."""

    contents: list[Content]
    config: dict[str, Any]
    models: tuple[str, ...] = (OPENAI, CLAUDE)
    differs: Difference | None = None


def _user(*parts: Part | str) -> Content:
    return Content(role="user", parts=[Part(text=p) if isinstance(p, str) else p for p in parts])


def _model(*parts: Part) -> Content:
    return Content(role="model", parts=list(parts))


def _set(*models: str, differs: Difference | None = None, **config: Any) -> Asked:
    return Asked([_user("hi")], config, models or (OPENAI, CLAUDE), differs)


def _told(*contents: Content, models: Any = (OPENAI, CLAUDE), differs: Any = None) -> Asked:
    return Asked(list(contents), {}, models, differs)


def _blob(mime: str) -> Content:
    data = types.Blob(mime_type=mime, data=b"ab", display_name="n.x")
    return _user("see", Part(inline_data=data))


def _at(uri: str, mime: str | None = None) -> Content:
    return _user("see", Part(file_data=types.FileData(file_uri=uri, mime_type=mime)))


def _calling(**config: Any) -> types.ToolConfig:
    return types.ToolConfig(function_calling_config=types.FunctionCallingConfig(**config))


def _thinking(**config: Any) -> Json:
    return {"thinking_config": types.ThinkingConfig(**config)}


_RETURNS = {"type": "object", "properties": {"n": {"type": "integer"}}}
_OLD = Schema(
    type="OBJECT",
    properties={
        "a": Schema(type="STRING", enum=["x", "y"], description="A."),
        "b": Schema(type="ARRAY", items=Schema(type="INTEGER")),
        "c": Schema(any_of=[Schema(type="STRING"), Schema(type="NUMBER")]),
    },
    required=["a"],
)
_MAYBE = Schema(type="OBJECT", properties={"a": Schema(type="STRING", nullable=True)})
TOOLS = [
    types.Tool(
        function_declarations=[
            types.FunctionDeclaration(name="old", description="Old.", parameters=_OLD),
            types.FunctionDeclaration(name="new", parameters_json_schema=_RETURNS),
            types.FunctionDeclaration(name="bare"),
        ]
    )
]
_MAY_BE_NULL = types.FunctionDeclaration(name="f", parameters=_MAYBE)
_CALL = Part(function_call=Call(id="1", name="old", args={"a": "é"}))
_SIGNED = Part(function_call=Call(id="1", name="old", args={}), thought_signature=b"sig")
_RESULT = types.FunctionResponse(id="1", name="old", response={"r": "é"})
_BLOB = types.FunctionResponseBlob(mime_type="image/png", data=b"x")
_SEEN = types.FunctionResponse(
    id="1", name="old", response={}, parts=[types.FunctionResponsePart(inline_data=_BLOB)]
)
_OPTIONS = types.HttpOptions(
    headers={"X": "1"},
    timeout=3000,
    retry_options=types.HttpRetryOptions(attempts=3),
    extra_body={"q": 1},
)
_THOUGHT = Part(text="hm", thought=True)
_SIGNED_THOUGHT = Part(text="hm", thought=True, thought_signature=b"sig")
_EVERYWHERE = (OPENAI, CLAUDE, GROQ, AZURE, OLLAMA)

REQUESTS: dict[str, Asked] = {
    "a text": _set(*_EVERYWHERE),
    "settings": _set(
        temperature=0,
        top_p=0.5,
        top_k=3,
        max_output_tokens=5,
        stop_sequences=["a"],
        presence_penalty=0.1,
        frequency_penalty=0.2,
        seed=4,
    ),
    "settings that are dropped": _set(candidate_count=2, labels={"a": "b"}),
    "probabilities": _set(response_logprobs=True, logprobs=2, differs=differing.LOGPROBS),
    "options of the request": _set(http_options=_OPTIONS),
    "an instruction": _set(system_instruction="Be brief."),
    "an instruction in parts": _set(system_instruction=_user("Be brief.", "Be kind.")),
    "tools": _set(*_EVERYWHERE, tools=TOOLS),
    "tools, one of which must be called": _set(tools=TOOLS, tool_config=_calling(mode="ANY")),
    "tools, none of which may be called": _set(tools=TOOLS, tool_config=_calling(mode="NONE")),
    "tools, if it likes": _set(tools=TOOLS, tool_config=_calling(mode="AUTO")),
    "no tools that must be called": _set(tool_config=_calling(mode="ANY")),
    "one tool that must be called": _set(
        tools=TOOLS,
        tool_config=_calling(mode="ANY", allowed_function_names=["old"]),
        differs=differing.ONE_TOOL,
    ),
    "a parameter that may be null": _set(
        tools=[types.Tool(function_declarations=[_MAY_BE_NULL])], differs=differing.NULLABLE
    ),
    "a tool of Google's": _set(
        GEMINI, tools=[types.Tool(google_search={})], differs=differing.TRACKING
    ),
    "a class as answer": _set(*_EVERYWHERE, response_schema=Shape),
    "a class as answer of Gemini": _set(GEMINI, response_schema=Shape, differs=differing.TRACKING),
    "a schema as answer": _set(response_schema=_RETURNS),
    "a schema of google-genai as answer": _set(response_schema=_OLD),
    "a schema of google-genai as answer of Gemini": _set(
        GEMINI, response_schema=_OLD, differs=differing.TRACKING
    ),
    "an answer format": _set(response_schema={"type": "json_object"}),
    "a list as answer": _set(response_schema=list[Shape], differs=differing.FORMATS),
    "JSON as answer": _set(response_mime_type="application/json", differs=differing.FORMATS),
    "a JSON schema as answer": _set(response_json_schema=_RETURNS, differs=differing.FORMATS),
    "a free dict as answer": _set(response_schema=Counts, differs=differing.OPEN_SHAPES),
    "several texts": _told(_user("a", "b"), models=_EVERYWHERE),
    "texts as files": _told(_blob("text/csv; charset=utf-8"), models=_EVERYWHERE),
    "a picture": _told(_blob("image/png"), models=_EVERYWHERE),
    "a sound": _told(_blob("audio/x-wav")),
    "a sound of another kind": _told(_blob("audio/flac")),
    "a video": _told(_blob("video/mp4")),
    "a document": _told(
        _blob("application/pdf"), models=(CLAUDE, GROQ, GEMINI), differs=differing.NAMED_FILES
    ),
    "a document for OpenAI": _told(
        _blob("application/pdf"), models=(OPENAI,), differs=differing.FILES
    ),
    "an archive": _told(_blob("application/zip"), models=(CLAUDE,), differs=differing.FILES),
    "a picture at an address": _told(_at("https://x/y.png", "image/png"), models=(OPENAI, AZURE)),
    "a picture at an address for others": _told(
        _at("https://x/y.png"), models=(CLAUDE, GROQ), differs=differing.FILES
    ),
    "a picture at an address for Gemini": _told(
        _at("https://x/y.png"), models=(GEMINI,), differs=differing.TRACKING
    ),
    "a file that was uploaded": _told(_at("file-1", "application/pdf"), models=(OPENAI, AZURE)),
    "a document in a bucket": _told(
        _at("gs://x/y.pdf"), models=(GEMINI,), differs=differing.TRACKING
    ),
    "a document in a bucket for others": _told(
        _at("gs://x/y.pdf"), models=(OPENAI, CLAUDE), differs=differing.FILES
    ),
    "calls and results": _told(
        _user("q"), _model(Part(text="t"), _CALL), _user(Part(function_response=_RESULT))
    ),
    "a call without result": _told(_user("q"), _model(_CALL), _user("never mind")),
    "a result with a picture": _told(
        _user("q"), _model(_CALL), _user(Part(function_response=_SEEN)), models=_EVERYWHERE
    ),
    "a signed call": _told(
        _user("q"),
        _model(_SIGNED),
        _user(Part(function_response=_RESULT)),
        models=(GEMINI,),
        differs=differing.TRACKING,
    ),
    "a thought": _told(
        _user("q"), _model(_THOUGHT, Part(text="a")), _user("q"), models=(OPENAI, GROQ)
    ),
    "a thought without signature": _told(
        _user("q"),
        _model(_THOUGHT, Part(text="a")),
        _user("q"),
        models=(CLAUDE,),
        differs=differing.UNSIGNED,
    ),
    "a signed thought": _told(
        _user("q"),
        _model(_SIGNED_THOUGHT, _CALL),
        _user(Part(function_response=_RESULT)),
        models=(CLAUDE, "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ),
    "an answer to go on from": _told(_user("q"), _model(Part(text="a"))),
    "nothing": _told(),
}
_THINKING_MODELS = (
    CLAUDE,
    "anthropic/claude-opus-4-7",
    "litellm_proxy/anthropic/claude-sonnet-4-5",
    "openai/gpt-5",
    "openai/gpt-4o",
)
for _wish in (
    {"thinking_budget": 2048, "include_thoughts": True},
    {"thinking_budget": 0},
    {"thinking_level": "LOW"},
    {"thinking_level": "MINIMAL"},
    {"include_thoughts": True},
    {"include_thoughts": False},
):
    _said = " ".join(f"{name} {value}" for name, value in _wish.items())
    _more = _thinking(**_wish) | {"temperature": 0.2, "max_output_tokens": 1500}
    REQUESTS[_said] = _set(*_THINKING_MODELS, **_more)
    _geminis = (GEMINI, "gemini/gemini-2.5-pro", "vertex_ai/gemini-3-pro-preview")
    REQUESTS[f"{_said} of Gemini"] = _set(*_geminis, **_more, differs=differing.TRACKING)


_OWN_WORDS = ("You are an agent", "Do ", "Go on", "Handle ", "Continue ")
"""The beginnings of texts that a runtime adds itself."""


COUNTED = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def noting(stage: Any, answers: list[Json] | None = None) -> Any:
    """Return a stand-in for litellm that notes whole requests and gives these answers."""
    import litellm  # noqa: PLC0415  optional package

    remaining = list(answers or [])

    async def streamed(pieces):
        for piece in [*pieces, None]:
            choice = {"delta": piece or {}, "finish_reason": None if piece else "stop"}
            yield litellm.ModelResponseStream(choices=[choice], model="served")

    class Noting(stage.ns.LiteLLMClient):
        async def acompletion(self, model, messages, tools, **more):
            request = {"model": model, "messages": messages, "tools": tools, **more}
            stage.note("sent", _plain(request))
            answer = remaining.pop(0) if remaining else {"content": "ok"}
            if more.get("stream"):
                return streamed(answer)
            choice = {"message": {"role": "assistant", **answer}, "finish_reason": "stop"}
            usage = litellm.Usage(**COUNTED) if answers else None
            return litellm.ModelResponse(choices=[choice], model="served", usage=usage)

    return Noting()


def _plain(value: Any) -> Json:
    """Return a request as JSON, without None and without texts worded by the runtime."""
    if isinstance(value, BaseModel):
        return _plain(value.model_dump())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        fields = {key: _plain(each) for key, each in value.items() if each is not None}
        if fields.get("name") == "set_model_response":  # each runtime words its own description
            fields |= {
                "description": "<worded>",
                "parameters": fields["parameters"] | {"title": ""},
            }
        return fields | {"content": "<worded>"} if _is_runtimes(fields) else fields
    return value


def _is_runtimes(message: Json) -> bool:
    """Whether the runtime wrote the message: to an agent, as a user or as a pending tool."""
    content = message.get("content")
    if message.get("role") == "tool":
        return not content.startswith("{")
    return isinstance(content, str) and content.startswith(_OWN_WORDS)


async def _asks(stage: Any, example: Asked) -> None:
    await stage.open(stage.agent())
    for name in example.models:
        model = stage.ns.LiteLlm(name, llm_client=noting(stage))
        request = stage.ns.LlmRequest(
            contents=[content.model_copy(deep=True) for content in example.contents],
            config=types.GenerateContentConfig(**example.config),
        )
        try:
            async for response in model.generate_content_async(request):
                stage.note("answer", response.model_dump(mode="json", exclude_none=True))
        except Exception as error:  # noqa: BLE001  the exception is part of the record
            stage.note("raised", type(error).__name__)


for _name, _asked in REQUESTS.items():
    _play = partial(_asks, example=_asked)
    add(Case(f"litellm is asked with {_name}", _play, _asked.differs, needs="litellm"))

CALLING = [{"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
ANSWERS: dict[str, tuple[str, list[Any]]] = {
    "a signed thought and a call": (
        CLAUDE,
        [{"content": None, "thinking_blocks": [SIGNED], "tool_calls": CALLING}],
    ),
    "a signed thought and a call in pieces": (
        CLAUDE,
        [
            [
                {"thinking_blocks": [SIGNED | {"thinking": "h", "signature": ""}]},
                {"thinking_blocks": [SIGNED | {"thinking": "m", "signature": ""}]},
                {"thinking_blocks": [SIGNED | {"thinking": ""}]},
                {"tool_calls": [CALLING[0] | {"index": 0}]},
            ],
            [{"content": "ok"}],
        ],
    ),
    "a call with a signature of Google's": (
        "openai/gemini",
        [
            {
                "content": None,
                "tool_calls": [
                    CALLING[0] | {"provider_specific_fields": {"thought_signature": "c2ln"}}
                ],
            }
        ],
    ),
    "a signature in the id of a call": (
        "openai/gemini",
        [{"content": None, "tool_calls": [CALLING[0] | {"id": "1__thought__c2ln"}]}],
    ),
}


async def _talks(stage: Any, name: str, answers: list[Any], include: bool, streams: bool) -> None:
    def look() -> Part:
        """Looks."""
        return Part(inline_data=types.Blob(mime_type="image/png", data=b"\x89PNG"))

    wish = types.ThinkingConfig(thinking_budget=2048, include_thoughts=include)
    model = stage.ns.LiteLlm(name, llm_client=noting(stage, answers))
    planner = stage.ns.BuiltInPlanner(thinking_config=wish)
    agent = stage.ns.LlmAgent(
        name="agent", model=model, tools=[look], planner=planner, output_schema=Shape
    )
    await stage.open(agent, cache={"min_tokens": 0, "ttl_seconds": 3600})
    await (stage.stream() if streams else stage.say())


for _name, (_model_name, _given) in ANSWERS.items():
    for _include in (True, False):
        _streams = isinstance(_given[0], list)
        _play = partial(
            _talks, name=_model_name, answers=_given, include=_include, streams=_streams
        )
        _kept = "shown" if _include else "hidden"
        _differs = differing.SILENT_SIGNATURES if _streams else differing.UNTOLD
        add(Case(f"litellm gives {_name}, {_kept}", _play, _differs, needs="litellm"))
