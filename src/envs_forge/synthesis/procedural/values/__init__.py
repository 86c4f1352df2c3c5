"""What flows between operations: a table, lines, JSON, a tree of files … One file a type."""
