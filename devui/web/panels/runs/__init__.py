"""One run: its status, what holds it up, its log, its calls, and its JSON routes."""
