"""The card for what is held at a gate: its buttons, and the forms that edit it."""
