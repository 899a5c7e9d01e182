"""The chat: messages and their parts, tool chips, and answers being streamed."""
