"""The predicates of filters, breakpoints, log lines and "run to the next similar event"."""
