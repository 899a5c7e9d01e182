"""Routes of `adk web` that this server doesn't support: each says why and what to do instead."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket

from devui.web.adk.answers import (
    AdkEvalResultsJson,
    AdkEvalSetsJson,
    AdkMetricsJson,
    AdkTelemetryJson,
)
from devui.web.errors import BadRequest, Forbidden, NotFound, UnsupportedRoute
from devui.web.lazy_modules import Endpoint
from devui.web.operation import Refusal, operation
from devui.web.security.intake import read_json
from devui.web.services import services_of

_EVALUATIONS = (
    "devui has no eval sets yet. On a session's page, export the session as an eval set for"
    " `adk eval` (Sessions > Export…), or save it as a test (Sessions > Make test…)"
)
_TESTS = "devui doesn't run google-adk's recorded tests: use `adk test` in the app's folder"
_RECORDING = (
    "devui doesn't write to the agents folder. Save a session as a test on its page (Sessions >"
    " Make test…), or edit the files in the app's tests folder"
)
_BUILDER = (
    "devui doesn't edit agents in the browser. Edit the app's files; devui reloads them"
    " when they change"
)
_DEPLOYMENT = "devui doesn't deploy agents: use `adk deploy`"
_IDENTITY = (
    "devui doesn't finalize Agent Identity credentials: sign in with the agent's own OAuth flow,"
    " or use `adk web` for this agent"
)
_LIVE = (
    "devui doesn't support live (audio and video) runs: use /run_sse, or `adk web` for this agent"
)


def _refusal(error: type[Forbidden | UnsupportedRoute], reason: str, more: str = "") -> Endpoint:
    async def endpoint(_: Request) -> Response:
        raise error(reason)

    endpoint.__doc__ = f"Refused with {error.status}: {reason}.\n\n{more}"
    return operation(status=None, refusals=(Refusal(error.status, reason),))(endpoint)


recording = _refusal(Forbidden, _RECORDING)
builder = _refusal(Forbidden, _BUILDER)
evaluation = _refusal(UnsupportedRoute, _EVALUATIONS)
rerun = _refusal(UnsupportedRoute, _TESTS)
deployment = _refusal(UnsupportedRoute, _DEPLOYMENT)
identity = _refusal(UnsupportedRoute, _IDENTITY)
live = _refusal(
    UnsupportedRoute, _LIVE, "A WebSocket is accepted, and closed with 1011 and that reason."
)


async def live_socket(socket: WebSocket) -> None:
    """Send the reason over the socket: browsers don't learn why a handshake failed."""
    await socket.accept()
    await socket.close(1011, _LIVE)


@operation(list[str])
async def nothing(request: Request) -> Response:
    """Always an empty list, which the front end requests as it starts."""
    services_of(request).apps.require(request.path_params["app"])
    return JSONResponse([])


def _empty(kind: type, name: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        services_of(request).apps.require(request.path_params["app"])
        return JSONResponse({name: []})

    endpoint.__doc__ = "Always an empty list."
    return operation(kind)(endpoint)


eval_sets = _empty(AdkEvalSetsJson, "evalSetIds")
eval_results = _empty(AdkEvalResultsJson, "evalResultIds")
metrics = _empty(AdkMetricsJson, "metricsInfo")


@operation(status=None, refusals=(Refusal(400, "devui has no eval sets"),))
async def eval_set(request: Request) -> Response:
    """Refused with 400: devui has no eval sets."""
    raise BadRequest(f"Eval set `{request.path_params['set']}` not found.")


@operation(status=None, refusals=(Refusal(404, "devui has no eval cases"),))
async def eval_case(request: Request) -> Response:
    """Refused with 404: devui has no eval cases."""
    names = request.path_params
    raise NotFound(f"Eval set `{names['set']}` or Eval `{names['case']}` not found.")


@operation(status=None, refusals=(Refusal(404, "devui has no eval results"),))
async def eval_result(request: Request) -> Response:
    """Refused with 404: devui has no eval results."""
    raise NotFound(f"Eval set result `{request.path_params['result']}` not found.")


@operation(AdkTelemetryJson)
async def telemetry(_: Request) -> Response:
    """Get the telemetry consent, which devui always declines."""
    return JSONResponse({"telemetry": False})


@operation(AdkTelemetryJson, refusals=(400,))
async def choose_telemetry(request: Request) -> Response:
    """Accept the consent dialog's answer, without any effect."""
    if request.headers.get("x-adk-telemetry-request") != "true":
        raise BadRequest("Forbidden: missing required security header")
    await read_json(request)
    return JSONResponse({"telemetry": False})
