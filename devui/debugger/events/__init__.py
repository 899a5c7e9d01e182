"""Events as the server reads them: summaries, filters, spans, and the feed of news."""
