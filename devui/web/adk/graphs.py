"""The structure of an app, as an object and as graphs in DOT (adk-web 1.7)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from devui.debugger.workers.trials import TrialFailed
from devui.debugger.workers.workers import AppBroken
from devui.web.adk.answers import AdkBuildJson, AdkEventGraphJson, AdkGraphJson
from devui.web.adk.dot import Pair, picture, tree
from devui.web.errors import Conflict, NotFound
from devui.web.operation import Query, Refusal, operation
from devui.web.services import services_of
from devui.wire.events import Event

Json = dict[str, Any]
_TRUE: Final = frozenset({"true", "1", "yes", "on", "t", "y"})
_NOT_LOADED: Final = Refusal(409, "The app can't be loaded")
_DARK_MODE: Final = Query(bool, "`true` for dark colors")


@operation(AdkBuildJson, refusals=(_NOT_LOADED,))
async def build(request: Request) -> Response:
    """Get an app's agents with their settings and tools, and its README."""
    description = await _description(request)
    readme = services_of(request).apps.readme(request.path_params["app"])
    return JSONResponse({**description["build"], **({"readme": readme} if readme else {})})


@operation(
    dict[str, AdkGraphJson],
    query={"dark_mode": _DARK_MODE, "node": Query(str, "The path of the agent: `root/agent`")},
    refusals=(_NOT_LOADED,),
)
async def pictures(request: Request) -> Response:
    """Get graphs of an agent, by default the root, and of each workflow below it.

    The graphs are in Graphviz's DOT language, by the paths of the agents.
    """
    root, node = (
        (await _description(request))["build"]["root_agent"],
        request.query_params.get("node"),
    )
    path = node or ""
    agent = _at(root, path)
    if agent is None:
        raise NotFound(f"Node not found: {node}")
    agents = {path: agent, **dict(_workflows(agent, path))}
    dark = _dark(request)
    return JSONResponse({at: {"dotSrc": picture(each, dark=dark)} for at, each in agents.items()})


@operation(AdkGraphJson, query={"dark_mode": _DARK_MODE}, refusals=(_NOT_LOADED,))
async def graph(request: Request) -> Response:
    """Get the whole app as one graph.

    The graph is in Graphviz's DOT language.
    """
    description = await _description(request)
    root, kinds = description["build"]["root_agent"], description["kinds"]
    return JSONResponse({"dotSrc": tree(root, kinds, dark=_dark(request))})


@operation(AdkEventGraphJson, refusals=(_NOT_LOADED,))
async def of_event(request: Request) -> Response:
    """Get the graph with an event's calls and answers marked; `{}` for an unknown event."""
    services = services_of(request)
    names = (request.path_params[each] for each in ("app", "user", "session"))
    session = await services.journal.sessions.find(*names)
    if session is None:
        return JSONResponse({})
    async for text in services.journal.events.json(session.key):
        event = Event(text)
        if event.id == request.path_params["event"]:
            break
    else:
        return JSONResponse({})
    description = await _description(request)
    highlights = list(_highlights(event))
    source = tree(description["build"]["root_agent"], description["kinds"], highlights, dark=True)
    return JSONResponse({"dotSrc": source})


async def _description(request: Request) -> Json:
    try:
        return await services_of(request).runs.trials.build(request.path_params["app"])
    except (AppBroken, TrialFailed) as error:
        raise Conflict(str(error)) from error


def _dark(request: Request) -> bool:
    return request.query_params.get("dark_mode", "").lower() in _TRUE


def _at(root: Json, path: str) -> Json | None:
    """Return the agent or node at a path such as `root/agent/node`; `root/` may be omitted."""
    names = [name for name in path.split("/") if name]
    agent: Json | None = root
    for name in names[names[:1] == [root["name"]] :]:
        agent = next((each for each in _below(agent or {}) if each["name"] == name), None)
    return agent


def _below(agent: Mapping[str, Any]) -> Iterator[Json]:
    yield from agent.get("graph", {}).get("nodes", ())
    yield from agent.get("sub_agents", ())


def _workflows(agent: Json, path: str) -> Iterator[tuple[str, Json]]:
    if agent.get("graph"):
        yield path, agent
    for each in _below(agent):
        yield from _workflows(each, f"{path}/{each['name']}" if path else each["name"])


def _highlights(event: Event) -> Iterator[Pair]:
    """Yield the calls of an event, or else its answers, or else only its author."""
    author = event.author
    if event.calls:
        yield from ((author, call.name) for call in event.calls)
    elif event.responses:
        yield from ((response.name, author) for response in event.responses)
    else:
        yield author, ""
