"""Events as the server reads them: summaries, filter matches, spans, and the feed of news."""
