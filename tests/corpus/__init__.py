"""Queries that together use every relational operator of a Spark batch query, over a few small Delta tables.

`data.create` makes the tables; `sql.SQL` and `frames.FRAMES` hold the queries. Each gives the same bag of
rows every time it runs.
"""
