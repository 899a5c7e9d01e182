"""What is held at a gate: the buttons, and the forms that edit it."""
