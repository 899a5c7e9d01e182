"""The SQLite file: its connections, schema, data folder and checks."""
