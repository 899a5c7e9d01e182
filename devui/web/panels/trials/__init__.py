"""One call by itself: a tool with other arguments, a model with another request."""
