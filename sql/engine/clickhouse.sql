-- The functions whose SQL is specific to ClickHouse. duckdb.sql has the same names; the rules that use them are in sql/function.
-- In a string, backslashes and quotes are doubled.

-- Settings that make ClickHouse read SQL as the standard does. Every query is sent with them; before queries by hand, run them first.
SET data_type_default_nullable = 1;
SET cast_keep_nullable = 1;
SET join_use_nulls = 1;
SET aggregate_functions_null_for_empty = 1;
SET prefer_column_name_to_alias = 1;
SET union_default_mode = 'DISTINCT';
SET session_timezone = 'UTC';
SET enable_lightweight_update = 1;
-- A CTE that says MATERIALIZED is computed once.
SET enable_materialized_cte = 1;
-- A repeated insert is intended, because the table was emptied in between. One thread writes one part: all or nothing.
SET deduplicate_insert = 'disable';
SET deduplicate_insert_select = 'disable';
SET async_insert = 0;
SET max_insert_threads = 1;
-- Statements can name all people of an organization.
SET max_query_size = 16777216;

-- An instant from Unix milliseconds.
CREATE OR REPLACE FUNCTION instant AS (ms) -> fromUnixTimestamp64Milli(CAST(ms, 'Nullable(Int64)'), 'UTC');

-- Exact percentiles, by linear interpolation between closest ranks (R-7).
-- TRICKY: quantileExactInclusive has the same definition, but adds in another order and differs in a double's last bit.
CREATE OR REPLACE FUNCTION percentile AS (share, x) ->
  if(
    count(x) = 0,
    NULL,
    arrayElement(arraySort(groupArray(toFloat64(x))), toInt64(floor((count(x) - 1) * share)) + 1)
      * (1.0 - ((count(x) - 1) * share - floor((count(x) - 1) * share)))
    + arrayElement(arraySort(groupArray(toFloat64(x))), toInt64(ceil((count(x) - 1) * share)) + 1)
      * ((count(x) - 1) * share - floor((count(x) - 1) * share))
  );

-- A name without the white space around it.
CREATE OR REPLACE FUNCTION stripped AS (name) -> trimBoth(name, ' \t\n\v\f\r');

-- A text in lower case, letter by letter. ClickHouse's own function can turn one character into two, and treats the end of a word specially.
CREATE OR REPLACE FUNCTION lower_case AS (text) -> substringUTF8(lowerUTF8(concat('x', translateUTF8(text, 'İΣ', 'iσ'))), 2);

-- A text with every match of a regular expression replaced.
CREATE OR REPLACE FUNCTION replaced AS (text, pattern, replacement) -> replaceRegexpAll(text, pattern, replacement);

-- A double in the row text that a digest is computed from: the integer of its 64 bits (IEEE 754), because engines write the same
-- double differently. NULL is an empty field. Adding 0 turns -0 into 0.
CREATE OR REPLACE FUNCTION double_field AS (value) ->
  if(isNull(value), '', toString(reinterpretAsInt64(assumeNotNull(toFloat64(value)) + 0.0)));

-- The digest of rows, given their texts: the hexadecimal SHA-256 of the texts in byte order, with line feeds in between.
CREATE OR REPLACE FUNCTION digest AS (row_text) -> lower(hex(SHA256(arrayStringConcat(arraySort(groupArray(row_text)), '\n'))));

-- The digest of rows of which there can be millions, given their texts: it needs no order and little memory. The hexadecimal SHA-256 of
-- a number in decimal digits: the last 8 bytes of the MD5 of each text, as little-endian integers, combined by exclusive or.
CREATE OR REPLACE FUNCTION unordered_digest AS (row_text) ->
  lower(hex(SHA256(toString(groupBitXor(reinterpretAsUInt64(substring(MD5(row_text), 9, 8)))))));

-- A checksum of rows that doesn't depend on their order. It is cheap, differs between engines and doesn't detect forgery. NULL without
-- rows.
CREATE OR REPLACE FUNCTION checksum AS (row_text) -> groupBitXor(sipHash64(row_text));

-- A number of 64 bits that stands for a session of a user. It differs between engines, and more than one session can have it.
CREATE OR REPLACE FUNCTION session_key AS (user_id, session_id) -> cityHash64(user_id, session_id);
