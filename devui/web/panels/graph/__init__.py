"""The graph: the structure of an app, and which parts of it have run."""
