-- Aggregates of the sales tables, made (step = make), and refreshed and asked (step = refresh).
SELECT :'step' = 'make' AS make \gset
\if :make
CREATE TABLE by_part (part int PRIMARY KEY, sold bigint, turnover bigint, changed timestamp);
INSERT INTO by_part SELECT part, sum(quantity), sum(price), now() FROM lineitem GROUP BY part;
CREATE TABLE by_customer (customer int PRIMARY KEY, given bigint, turnover bigint, last date);
INSERT INTO by_customer SELECT customer, count(*), sum(total), max(day) FROM orders GROUP BY customer;
CREATE MATERIALIZED VIEW by_clerk_month AS
SELECT clerk, date_trunc('month', day) AS month, count(*) AS orders, sum(total) AS turnover
FROM orders GROUP BY 1, 2;
CREATE INDEX ON by_clerk_month (turnover);
CREATE MATERIALIZED VIEW top_parts AS
SELECT part, returned, sum(quantity) AS quantity, avg(discount) AS discount FROM lineitem GROUP BY 1, 2;
CREATE UNIQUE INDEX ON top_parts (part, returned);
VACUUM ANALYZE;
\else
-- What came in is added to the aggregates in place.
INSERT INTO by_part AS b SELECT part, sum(quantity), sum(price), now() FROM lineitem WHERE orders >= :first GROUP BY part
ON CONFLICT (part) DO UPDATE SET sold = b.sold + excluded.sold, turnover = b.turnover + excluded.turnover,
                                 changed = excluded.changed;
INSERT INTO by_customer AS b SELECT customer, count(*), sum(total), max(day) FROM orders WHERE orders >= :first
GROUP BY customer
ON CONFLICT (customer) DO UPDATE SET given = b.given + excluded.given, turnover = b.turnover + excluded.turnover,
                                     last = greatest(b.last, excluded.last);
UPDATE orders SET status = 'F' WHERE orders % 23 = :round % 23;
-- Two are computed anew, one of them row by row where something differs.
REFRESH MATERIALIZED VIEW by_clerk_month;
REFRESH MATERIALIZED VIEW CONCURRENTLY top_parts;
SELECT pg_sleep(:pause);
-- Reports, the larger of which sort on disk.
SELECT part, turnover, rank() OVER (ORDER BY turnover DESC) FROM by_part ORDER BY turnover DESC LIMIT 50;
SELECT clerk, month, turnover, sum(turnover) OVER (PARTITION BY clerk ORDER BY month) FROM by_clerk_month
ORDER BY clerk, month;
SELECT l.orders, l.line, l.price, b.turnover FROM lineitem l JOIN by_part b USING (part) ORDER BY b.turnover, l.price;
SELECT pg_sleep(:pause);
SELECT o.day, c.turnover, sum(l.price) FROM orders o JOIN by_customer c USING (customer) JOIN lineitem l USING (orders)
GROUP BY 1, 2 ORDER BY 1, 2;
VACUUM;
\endif
