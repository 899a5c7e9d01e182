"""The session page as a whole: the panes around the features, and the stream."""
