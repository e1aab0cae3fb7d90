-- The functions of duckdb.sql that statements about state use, in PostgreSQL. A SELECT with another function reads the published rows in
-- ClickHouse: see src/store/state/homes.ts.

-- An instant from Unix milliseconds.
CREATE OR REPLACE FUNCTION instant(ms BIGINT) RETURNS TIMESTAMP(3) LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
  SELECT TIMESTAMP '1970-01-01' + ms * INTERVAL '1 millisecond'
$$;

-- A text in lower case, letter by letter, whatever the language of the database. ICU's own function turns one character into two, and treats
-- the end of a word specially.
CREATE OR REPLACE FUNCTION lower_case(word TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(translate(word, 'İΣ', 'iσ') COLLATE "und-x-icu") COLLATE "C"
$$;
