-- How often the rows of a table have changed, so that nodes notice what others have made of it. One row is one table.
-- Grain: (table_name).
CREATE TABLE revisions_of_tables (
  table_name  TEXT COLLATE "C" PRIMARY KEY,
  revision    BIGINT NOT NULL
);

-- Counts a change with the transaction that makes it.
CREATE OR REPLACE FUNCTION count_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO revisions_of_tables AS known VALUES (TG_TABLE_NAME, 1)
  ON CONFLICT (table_name) DO UPDATE SET revision = known.revision + 1;
  RETURN NULL;
END
$$;
