"""Why an MCP server over HTTP has refused a request (adk-runtime 8.9)."""

from typing import Any

from mcp.types import INTERNAL_ERROR

from devui.runtime.http_client import httpx

_SHOWN = 300
"""Characters of an answer to show."""


def tell_refusals(http: Any) -> None:
    """Make mcp say with which status and words a server has refused a request.

    mcp itself says that there was an error, whether a token is wrong or the server broken. It
    hands on errors in the form of JSON-RPC, so a refusal is put into that form.
    """
    http.event_hooks["response"].append(_as_json_rpc)


async def _as_json_rpc(response: Any) -> None:
    asked = response.request
    is_mcp = asked.method == "POST" and "text/event-stream" in asked.headers.get("accept", "")
    has_meaning = response.status_code == httpx.codes.NOT_FOUND  # of a method, or of the session
    if not is_mcp or has_meaning or response.status_code < httpx.codes.BAD_REQUEST:
        return
    body = b"".join([piece async for piece in response.stream])
    await response.stream.aclose()
    came = type(response)(response.status_code, headers=response.headers, content=body)
    if not _is_json_rpc(came):
        words = came.text.strip()[:_SHOWN]
        said = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        error = {"code": INTERNAL_ERROR, "message": f"{said}: {words}" if words else said}
        told = {"jsonrpc": "2.0", "id": None, "error": error}
        came = type(response)(response.status_code, json=told)
        response.headers["content-type"] = came.headers["content-type"]
        response.headers.pop("content-encoding", None)
    response.stream = came.stream


def _is_json_rpc(response: Any) -> bool:
    try:
        return "code" in response.json()["error"]
    except (ValueError, LookupError, TypeError):
        return False
