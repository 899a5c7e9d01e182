"""An MCP server for tests that does what no server should, as a separate process.

`python tests/kit/odd_mcp_server.py` talks over its pipes. It needs nothing but Python, so that it
starts at once.
"""

import json
import sys
from typing import Any

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
PLAIN = {"type": "object", "properties": {"n": {"type": "integer", "description": "A number."}}}
TOOLS = [
    {"name": "hang", "description": "Never answer.", "inputSchema": PLAIN},
    {"name": "lie", "description": "Send a text.", "inputSchema": PLAIN, "outputSchema": NUMBER},
    {"name": "mumble", "inputSchema": PLAIN},
    {"name": "part", "description": "Answer and go.", "inputSchema": PLAIN},
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a request; None for no answer."""
    if method == "initialize":
        info = {"name": "odd", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params["name"] != "hang":
        return {"content": [{"type": "text", "text": "well"}]}
    return None


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        result = answer(request.get("method", ""), request.get("params") or {})
        if result is not None and "id" in request:
            response = {"jsonrpc": "2.0", "id": request["id"], "result": result}
            sys.stdout.write(json.dumps(response) + "\n")
            sys.stdout.flush()
        if (request.get("params") or {}).get("name") == "part":
            return


if __name__ == "__main__":
    main()
