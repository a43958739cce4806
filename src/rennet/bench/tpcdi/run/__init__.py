"""Runs the TPC-DI-derived pipeline batch by batch, measures every refresh, checks every view, and reports.

`workload` finds the pipeline, `load` and `measure` read Spark's status store, `check` compares views with
their queries and with DuckDB, `runner` goes through the batches, `record` keeps what was found, `decide`
judges what was chosen, `summary` puts it into figures, `report` and `plots` write them down.
"""
