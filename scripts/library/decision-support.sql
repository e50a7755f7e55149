-- Questions as a sales department asks them: large joins, sorts and groups, most of which exceed work_mem. Whoever asks
-- looks at each answer for a while (and perf gets time to store the stacks of what was spilled).

-- Turnover by state of return, up to a day.
SELECT returned, sum(quantity), sum(price), avg(discount), count(*)
FROM lineitem WHERE shipped <= date '2000-01-01' GROUP BY returned ORDER BY returned;
SELECT pg_sleep(:pause);

-- The largest orders not yet shipped, of one segment.
SELECT o.orders, sum(l.price * (100 - l.discount)) AS revenue, o.day
FROM customer c JOIN orders o USING (customer) JOIN lineitem l USING (orders)
WHERE c.segment = 'garden' AND o.day < date '1998-03-01' AND l.shipped > date '1998-03-01'
GROUP BY o.orders, o.day ORDER BY revenue DESC LIMIT 10;
SELECT pg_sleep(:pause);

-- Turnover by nation and year.
SELECT c.nation, date_part('year', o.day) AS year, sum(l.price)
FROM customer c JOIN orders o USING (customer) JOIN lineitem l USING (orders)
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT pg_sleep(:pause);

-- Every line in the order of its price, ranked within its part.
SELECT count(*), max(place) FROM (
    SELECT l.*, rank() OVER (PARTITION BY part ORDER BY price DESC, shipped) AS place FROM lineitem l
) AS ranked WHERE place <= 3;
SELECT pg_sleep(:pause);

-- Parts that sell below the average quantity.
SELECT p.brand, sum(l.price) / 7 FROM lineitem l JOIN part p USING (part)
JOIN (SELECT part, 0.5 * avg(quantity) AS low FROM lineitem GROUP BY part) AS a USING (part)
WHERE l.quantity < a.low GROUP BY p.brand ORDER BY p.brand;
SELECT pg_sleep(:pause);

-- Customers by how many orders they gave.
SELECT orders, count(*) FROM (
    SELECT c.customer, count(o.orders) AS orders FROM customer c LEFT JOIN orders o USING (customer) GROUP BY c.customer
) AS given GROUP BY orders ORDER BY 2 DESC, 1 DESC;
SELECT pg_sleep(:pause);

-- Late deliveries by clerk.
SELECT o.clerk, count(DISTINCT l.orders) FROM orders o JOIN lineitem l USING (orders)
WHERE l.received > l.shipped + 20 GROUP BY o.clerk ORDER BY 2 DESC LIMIT 20;
SELECT pg_sleep(:pause);

-- A report kept for a while: what each customer bought, sorted, with an index; then dropped.
CREATE TABLE report AS
SELECT o.customer, l.part, sum(l.quantity) AS quantity, sum(l.price) AS price
FROM orders o JOIN lineitem l USING (orders) GROUP BY o.customer, l.part ORDER BY price DESC;
SELECT pg_sleep(:pause);
CREATE INDEX ON report (customer, price);
SELECT customer, sum(price) FROM report GROUP BY customer ORDER BY 2 DESC LIMIT 100;
DROP TABLE report;
SELECT pg_sleep(:pause);
