"""The chat: messages and their parts, tool chips, and what is being said right now."""
