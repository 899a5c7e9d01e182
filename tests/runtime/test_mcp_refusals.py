"""Errors for MCP servers over HTTP that refuse a request, as for a wrong token."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(not find_spec("mcp"), reason="mcp is not installed")

if find_spec("mcp"):
    from devui.runtime.tools.mcp_tool import McpToolset, StreamableHTTPConnectionParams

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("plain", "coded", "worded")]
INITIALIZED = {"capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
REFUSALS = {
    "plain": (403, "text/plain", b"the token is too weak"),
    "coded": (429, "application/json", b'{"error": "slow down"}'),
    "worded": (
        *(400, "application/json"),
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "wrong words"}}',
    ),
}


class Server(BaseHTTPRequestHandler):
    """A server that lists its tools for the right token and refuses every call."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != "Bearer right":
            self.answer(401, "application/json", b'{"error": "invalid_token"}')
        elif request["method"] == "tools/call":
            self.answer(*REFUSALS[request["params"]["name"]])
        elif "id" not in request:
            self.answer(202, "text/plain", b"")
        else:
            result = {"tools": TOOLS}
            if request["method"] == "initialize":
                result = {**INITIALIZED, "protocolVersion": request["params"]["protocolVersion"]}
            whole = {"jsonrpc": "2.0", "id": request["id"], "result": result}
            self.answer(200, "application/json", json.dumps(whole).encode())

    def do_GET(self):
        self.answer(405, "text/plain", b"")

    def answer(self, status, media, body):
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
async def toolset(request):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    mcp_tools = McpToolset(
        connection_params=StreamableHTTPConnectionParams(
            url=f"http://127.0.0.1:{server.server_address[1]}/mcp",
            headers={"Authorization": f"Bearer {request.param}"},
        )
    )
    yield mcp_tools
    await mcp_tools.close()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("toolset", ["wrong"], indirect=True)
async def test_the_error_for_a_refused_connection_has_the_status_and_body(toolset):
    with pytest.raises(ConnectionError, match=r"HTTP 401 Unauthorized.*invalid_token"):
        await toolset.get_tools()


@pytest.mark.parametrize("toolset", ["right"], indirect=True)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plain", "HTTP 403 Forbidden: the token is too weak"),
        ("coded", 'HTTP 429 Too Many Requests: {"error": "slow down"}'),
        ("worded", "wrong words"),
    ],
)
async def test_the_error_for_a_refused_call_has_the_status_and_body(toolset, name, message):
    tool = next(one for one in await toolset.get_tools() if one.name == name)
    response = await tool.run_async(args={}, tool_context=None)
    assert response["error"].endswith(message)
