"""The session page: the panes around the features, and the stream that keeps it current."""
