"""`rennet bench pipelines`: one project under rennet and under Spark's own `spark-pipelines`."""
