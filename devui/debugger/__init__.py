"""The server's logic without its pages: how runs are held, stepped, replayed, forked, compared."""
