"""What agents ask people, and whether an answer fits an open question."""
