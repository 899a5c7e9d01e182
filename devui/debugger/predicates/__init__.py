"""What filters, breakpoints, log lines and "run to the next similar event" say of an event."""
