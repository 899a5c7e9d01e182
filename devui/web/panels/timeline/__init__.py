"""The timeline: rows, windows, filters, and the bar that walks through them."""
