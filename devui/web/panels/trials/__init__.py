"""Trials: a tool with other arguments, or a model with another request, outside any run."""
