"""One run: its status, what it is waiting for, its log, its calls, and its JSON routes."""
