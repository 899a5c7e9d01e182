"""`McpInstructionProvider`: an instruction that is a prompt of an MCP server (adk-runtime 8.9)."""

import sys
from typing import TextIO

import mcp
import mcp.types

from devui.runtime.agents.context import ReadonlyContext
from devui.runtime.tools.mcp_tool.mcp_session_manager import ConnectionParams, MCPSessionManager


class McpInstructionProvider:
    """Fetches a prompt for each request of an agent; pass it as the agent's `instruction`.

    The prompt's arguments are read from the session's state, by their names.
    """

    def __init__(
        self, connection_params: ConnectionParams, prompt_name: str, errlog: TextIO = sys.stderr
    ) -> None:
        """Use the prompt of that name; `errlog` gets the stderr of a child process."""
        self.prompt_name = prompt_name
        self._mcp_session_manager = MCPSessionManager(connection_params, errlog)

    async def __call__(self, context: ReadonlyContext) -> str:
        """Return the texts of the prompt's messages, joined; "" if it has only images and the like.

        Raises:
            ConnectionError: the server cannot be reached.
            mcp.MCPError: the server has no such prompt, or an argument of it is missing.
            ValueError: the prompt is empty.
        """
        result = await self._mcp_session_manager.ask(
            None, lambda client: self._prompt(client, context), changes_nothing=True
        )
        contents = [message.content for message in result.messages]
        texts = [each.text for each in contents if isinstance(each, mcp.types.TextContent)]
        if not contents:
            raise ValueError(
                f"The MCP prompt {self.prompt_name!r} of {self._mcp_session_manager} is empty."
            )
        return "".join(texts)

    async def _prompt(
        self, client: mcp.Client, context: ReadonlyContext
    ) -> mcp.types.GetPromptResult:
        prompts = (await client.list_prompts()).prompts
        prompt = next((each for each in prompts if each.name == self.prompt_name), None)
        names = {each.name for each in (prompt.arguments if prompt else None) or []}
        state = {key: str(value) for key, value in context.state.items() if key in names}
        return await client.get_prompt(self.prompt_name, state)

    async def close(self) -> None:
        """Close the connection; the Runner calls this when it is closed."""
        await self._mcp_session_manager.close()
