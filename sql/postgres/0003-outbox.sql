-- What has to be published in ClickHouse. One row is one changed row of a published table, before or after the change. Of the rows of a key
-- the one with the highest number counts: whoever changes the row of another transaction waits for it, and takes a number after that.
-- Grain: (number).
CREATE TABLE outbox (
  number      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  table_name  TEXT COLLATE "C" NOT NULL,
  is_removed  BOOLEAN NOT NULL,   -- the row isn't there any more
  content     TEXT NOT NULL       -- the columns as JSON, each value as text
);

-- Puts a changed row into the outbox.
CREATE OR REPLACE FUNCTION put_out() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO outbox (table_name, is_removed, content)
    SELECT TG_TABLE_NAME, true, json_object_agg(key, value) FROM jsonb_each_text(to_jsonb(OLD));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO outbox (table_name, is_removed, content)
    SELECT TG_TABLE_NAME, false, json_object_agg(key, value) FROM jsonb_each_text(to_jsonb(NEW));
  END IF;
  RETURN NULL;
END
$$;
