"""Refreshes measured: shapes of queries, their contenders, and what is asked of them."""
