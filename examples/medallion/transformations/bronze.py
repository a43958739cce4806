"""Files dropped into landing/, as they are."""

from rennet import pipelines as dp


@dp.table(comment="changes of customers, as they arrived")
@dp.expect_or_drop("has_key", "customer_id IS NOT NULL")
def customer_changes():
    schema = "customer_id INT, name STRING, region STRING, operation STRING, changed_at TIMESTAMP"
    return spark.readStream.schema(schema).json("landing/customers")  # noqa: F821 - given by the pipeline


@dp.table(comment="orders, one line each")
def orders():
    schema = "order_id INT, customer_id INT, amount DECIMAL(10, 2), ordered_on DATE"
    return spark.readStream.schema(schema).option("header", True).csv("landing/orders")  # noqa: F821
