\set item random_zipfian(1, 60000, 1.1)
\set place (:item * 7919) % 60000 + 1
\set amount random(1, 5)
BEGIN;
UPDATE stock SET amount = amount - :amount WHERE id = :place;
INSERT INTO sale (item, amount, state, note) VALUES (:place, :amount, 'open', md5(:place::text));
END;
