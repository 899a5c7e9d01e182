"""Gemini's cache of what requests have in common, over HTTP: what is cached, and what is sent."""

from collections.abc import Callable
from functools import partial
from typing import Any

from google.genai import Client, types

from tests.differential.case import Case, add
from tests.kit.gemini_server import GeminiServer, Json, ReceivedRequest, cache, call, chunk, text

MANY = {"promptTokenCount": 5000, "totalTokenCount": 5001}
FEW = {"promptTokenCount": 900, "totalTokenCount": 901}
YES = chunk(text("Yes."), finish="STOP", usageMetadata=MANY)
YES_IN_FEW = chunk(text("Yes."), finish="STOP", usageMetadata=FEW)
LOOKS = chunk(call("look", place="here"), finish="STOP", usageMetadata=MANY)
ENDED = "2001-01-01T00:00:00Z"
REFUSED = {"error": {"code": 400, "message": "Too small.", "status": "INVALID_ARGUMENT"}}
OTHERWISE = {"instruction": "Be brief."}
"""What changes in the agent between two turns."""

FIVE = {"cache_intervals": 5}
Turn = list[Json]
TALKS: dict[str, tuple[dict[str, Any], list[Turn]]] = {
    "that is used again": (FIVE, [[YES], [cache("1"), YES], [YES], [YES]]),
    "beside tools": (FIVE, [[LOOKS, cache("1"), YES], [LOOKS, YES], [YES]]),
    "that is renewed": (
        {"cache_intervals": 1},
        [[YES], [cache("1"), YES], [cache("2"), YES], [cache("3"), LOOKS, YES]],
    ),
    "that has ended": (FIVE, [[YES], [cache("1", ENDED), YES], [cache("2"), YES], [YES]]),
    "of something else": (
        FIVE,
        [[YES], [cache("1"), YES], [OTHERWISE, YES], [cache("2"), YES], [YES]],
    ),
    "that is refused": (FIVE, [[YES], [REFUSED, YES], [REFUSED, YES], [cache("1"), YES]]),
    "that is not worth it": ({"min_tokens": 1000}, [[YES_IN_FEW], [YES], [cache("1"), YES]]),
    "for an hour": ({"ttl_seconds": 3600}, [[YES], [cache("1"), YES]]),
}
MODELS = {"gemini-2.5-flash": "2.5", "gemini-3-pro": "3"}


def look(place: str) -> str:
    """Looks."""
    return f"seen {place}"


def _sent(request: ReceivedRequest) -> Any:
    """Return a request without what differs by runtime: the instruction and the display name."""
    body = {key: value for key, value in request.body.items() if key != "displayName"}
    if "systemInstruction" in body:
        body["systemInstruction"] = "<instruction>"
    return [request.path.split("/")[2:], body]  # without google-genai's API version


def _of_one_name(ns: Any) -> Callable[..., Any]:
    """Return a Gemini class that masks what differs by runtime or time in its cache metadata."""

    real: dict[str, str] = {}

    class OneName(ns.Gemini):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            metadata = llm_request.cache_metadata
            if metadata is not None:
                fingerprint = {"fingerprint": real["latest"]}
                llm_request.cache_metadata = metadata.model_copy(update=fingerprint)
            async for response in super().generate_content_async(llm_request, stream):
                response_metadata = response.cache_metadata
                if response_metadata is not None:
                    real["latest"] = response_metadata.fingerprint
                    plain = {"fingerprint": "f", "created_at": None}
                    response.cache_metadata = response_metadata.model_copy(update=plain)
                yield response

    return OneName


async def _talk(
    stage: Any, config: dict[str, Any], turns: list[Turn], play: str, model: str = "gemini-test"
) -> None:
    with GeminiServer() as server:
        options = types.HttpOptions(base_url=server.url)
        client = Client(api_key="none", http_options=options, vertexai=False)
        llm = _of_one_name(stage.ns)(model=model, client=client)
        agent = stage.ns.LlmAgent(name="agent", model=llm, instruction="Be.", tools=[look])
        await stage.open(agent, cache=config)
        for turn in turns:
            for answer in turn:
                if answer is OTHERWISE:
                    agent.instruction = answer["instruction"]
                elif answer is REFUSED:
                    server.fail(**answer["error"])
                else:
                    server.answer(answer)
            await getattr(stage, play)()
        for request in server.received:
            stage.note("sent", _sent(request))
        await client.aio.aclose()
        client.close()


for _name, (_config, _turns) in TALKS.items():
    for _play, _how in (("say", "at once"), ("stream", "streamed")):
        _talking = partial(_talk, config=_config, turns=_turns, play=_play)
        add(Case(f"Gemini has a cache {_name}, {_how}", _talking))
for _model, _version in MODELS.items():
    _turns = [[YES_IN_FEW], [YES_IN_FEW], [YES_IN_FEW]]
    _talking = partial(_talk, config=FIVE, turns=_turns, play="say", model=_model)
    add(Case(f"Gemini {_version} keeps nothing that is small", _talking))
