"""`devui dbg`: the debugger in the terminal."""
