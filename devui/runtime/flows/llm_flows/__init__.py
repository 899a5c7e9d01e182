"""The loop of an agent with a model: request, answer, tools, and again."""
