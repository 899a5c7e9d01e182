"""Jobs: the progress of exports, imports, tests and replays, and stopping them."""
