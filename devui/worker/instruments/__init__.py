"""Observes the runs of a worker: gates, open calls, and the recorder of spans."""
