"""The routes for coding agents: `/mcp` and `/llms.txt`."""
