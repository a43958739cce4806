"""The pipeline of the TPC-DI-derived benchmark, as a user would write it. See README.md beside this file."""
