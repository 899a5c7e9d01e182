"""What looks into the runs of a worker: gates, calls under way, and the recorder of spans."""
