"""Tasks with an owner, jobs with progress and Stop, and long work beside the event loop."""
