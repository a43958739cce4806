CREATE MATERIALIZED VIEW remainders AS
SELECT id % 7 AS remainder, COUNT(*) AS numbers FROM even_numbers GROUP BY id % 7;
