"""What agents ask people: the forms, and the answers."""
