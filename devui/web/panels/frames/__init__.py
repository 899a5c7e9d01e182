"""What a page shows in a sandboxed frame, apart from itself."""
