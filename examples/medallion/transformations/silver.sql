-- Customers as they are now.
CREATE STREAMING TABLE customers;

CREATE FLOW keep_customers AS AUTO CDC INTO customers
FROM STREAM(customer_changes)
KEYS (customer_id)
APPLY AS DELETE WHEN operation = 'DELETE'
SEQUENCE BY changed_at
COLUMNS * EXCEPT (operation, changed_at)
STORED AS SCD TYPE 1;

-- And everything they have been.
CREATE STREAMING TABLE customer_history;

CREATE FLOW keep_history AS AUTO CDC INTO customer_history
FROM STREAM(customer_changes)
KEYS (customer_id)
APPLY AS DELETE WHEN operation = 'DELETE'
SEQUENCE BY changed_at
COLUMNS * EXCEPT (operation, changed_at)
STORED AS SCD TYPE 2
TRACK HISTORY ON region;
