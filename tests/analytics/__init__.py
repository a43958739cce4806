"""Questions analysts ask, over three small businesses: a shop, a software service and a bank.

Each business has a module that makes its tables (always the same rows), a folder of `.sql` files of queries
by theme, and a `changes.sql` of what happens to it.
"""
