"""What `devui doctor` looks at, one module for each area."""
