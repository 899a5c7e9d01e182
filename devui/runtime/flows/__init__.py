"""Flows: how an agent gets from a message to an answer."""
