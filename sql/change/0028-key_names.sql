-- What a key is for, as whoever made it said.
ALTER TABLE keys ADD COLUMN name VARCHAR
