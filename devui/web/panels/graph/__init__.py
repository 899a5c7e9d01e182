"""The graph: what an app is made of, with what has run of it."""
