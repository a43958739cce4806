"""Random queries, data and changes: every view must stay equal to its query."""
