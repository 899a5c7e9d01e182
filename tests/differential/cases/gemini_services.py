"""Which endpoint Gemini requests go to, what it accepts, and who else calls it."""

import copy
from functools import partial
from typing import Any

import httpx
from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.cases.gemini_streams import settings
from tests.differential.differing_schemas import VERTEX_BY_CLIENT
from tests.kit.gemini_server import GeminiServer, chunk, text

GOOGLE = "http://generativelanguage.googleapis.com"
ADDRESSES = {
    "with a version": (f"{GOOGLE}/v1beta", None),
    "with a version and a slash": (f"{GOOGLE}/v1/", None),
    "with a version beside one of the model's": (f"{GOOGLE}/v1alpha", "v1"),
    "without a version": (GOOGLE, "v1alpha"),
    "of a proxy with a version": ("http://proxy.test/v1", "v1alpha"),
}


async def _at(stage: Any, base_url: str, api_version: str | None) -> None:
    with GeminiServer() as server:
        server.answer(chunk(text("Yes."), finish="STOP"))
        async with httpx.AsyncClient(proxy=server.url) as line:
            options = types.HttpOptions(httpx_async_client=line)
            model = stage.ns.Gemini(
                model="gemini-2.5-flash",
                base_url=base_url,
                api_version=api_version,
                client_kwargs={"api_key": "any", "http_options": options},
            )
            await stage.open(stage.agent("agent", model=model))
            await stage.say()
        stage.note([(got.headers["host"], got.path) for got in server.received])


for _name, (_base_url, _version) in ADDRESSES.items():
    _play = partial(_at, base_url=_base_url, api_version=_version)
    add(Case(f"Gemini at an address {_name}", _play))


class City(BaseModel):
    """What is asked for."""

    name: str


def look() -> str:
    """Looks."""
    return "seen"


async def _answering_in_a_shape(stage: Any, model: str) -> None:
    with GeminiServer() as server, settings({"GOOGLE_GENAI_USE_ENTERPRISE": "1"}):
        server.answer(chunk(text('{"name": "Bern"}'), finish="STOP"))
        gemini = stage.ns.Gemini(model=model, base_url=server.url, client_kwargs={"api_key": "any"})
        agent = stage.agent("agent", model=gemini, tools=[look], output_schema=City)
        await stage.open(agent)
        await stage.say()
    for got in server.received:
        declared = got.body["tools"][0]["functionDeclarations"]
        stage.note(
            sorted(got.body.get("generationConfig", {})), [each["name"] for each in declared]
        )


for _model in (
    "gemini-2.5-flash",
    "projects/p/locations/l/publishers/google/models/gemini-2.5-flash",
    "projects/p/locations/l/endpoints/1",
    "gemma-4-1b",
):
    _play = partial(_answering_in_a_shape, model=_model)
    add(Case(f"{_model} of Vertex AI has tools, and answers in a shape", _play))


COPIES = {"deeply": copy.deepcopy, "as models are": lambda agent: agent.model_copy(deep=True)}


async def _copied(stage: Any, copied: Any) -> None:
    with GeminiServer() as server:
        for _ in range(2):
            server.answer(chunk(text("Yes."), finish="STOP"))
        gemini = stage.ns.Gemini(base_url=server.url, client_kwargs={"api_key": "any"})
        agent = stage.agent("agent", model=gemini)
        await stage.open(agent)
        await stage.say()
        await stage.open(copied(agent))
        await stage.say()
        stage.note(len(server.received))


for _name, _copying in COPIES.items():
    _play = partial(_copied, copied=_copying)
    add(Case(f"an agent that has asked Gemini is copied {_name}", _play))


@case(differs=VERTEX_BY_CLIENT)
async def vertex_ai_is_chosen_by_the_arguments_of_the_client(stage):
    model = stage.ns.Gemini(model="gemini-2.5-flash", client_kwargs={"vertexai": True})
    stage.note("schema and tools", model.capabilities.output_schema_and_tools)
