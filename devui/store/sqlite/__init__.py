"""The SQLite file: its connections, schema and folder, and what checks it."""
