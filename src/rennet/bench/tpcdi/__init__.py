"""A workload derived from TPC-DI: a generator of its source files, and its tables computed independently."""
