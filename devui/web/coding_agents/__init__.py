"""What the server has for coding agents: `/mcp` and `/llms.txt`."""
