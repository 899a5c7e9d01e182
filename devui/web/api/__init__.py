"""ADK's REST API at ADK's own paths (adk-web 1), so that its clients work on this server."""
