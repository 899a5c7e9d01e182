"""Background work: tasks with an owner, jobs that can be stopped, and long work in small turns."""
