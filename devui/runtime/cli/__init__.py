"""Where google-adk has its server's application; nothing of the runtime loads it."""
