-- What ClickHouse spells in its own way. The same names are in duckdb.sql; the rules that use them are in sql/function.
-- In a string a backslash is doubled, and so is a quote.

-- What makes ClickHouse read SQL as the standard has it. They go with every query; whoever queries by hand sets them first.
SET data_type_default_nullable = 1;
SET cast_keep_nullable = 1;
SET join_use_nulls = 1;
SET aggregate_functions_null_for_empty = 1;
SET prefer_column_name_to_alias = 1;
SET union_default_mode = 'DISTINCT';
SET session_timezone = 'UTC';
SET enable_lightweight_update = 1;
-- An insert that repeats another is meant, since the table was emptied between them. One thread writes one part: all or nothing.
SET insert_deduplicate = 0;
SET max_insert_threads = 1;

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

-- A text in lower case, letter by letter. ClickHouse by itself makes two characters of one, and looks at a word's end.
CREATE OR REPLACE FUNCTION lower_case AS (text) -> substringUTF8(lowerUTF8(concat('x', translateUTF8(text, 'İΣ', 'iσ'))), 2);

-- A text with every match of a regular expression replaced.
CREATE OR REPLACE FUNCTION replaced AS (text, pattern, replacement) -> replaceRegexpAll(text, pattern, replacement);

-- A double in the row text that a digest is computed from: the integer of its 64 bits (IEEE 754), since engines write the same
-- double in several ways. NULL is an empty field. Adding 0 makes 0 of -0.
CREATE OR REPLACE FUNCTION double_field AS (value) ->
  if(isNull(value), '', toString(reinterpretAsInt64(assumeNotNull(toFloat64(value)) + 0.0)));

-- The digest of rows, given their texts: SHA-256, hexadecimal, of the texts in byte order with a line feed between.
CREATE OR REPLACE FUNCTION digest AS (row_text) -> lower(hex(SHA256(arrayStringConcat(arraySort(groupArray(row_text)), '\n'))));

-- A checksum of rows, given their texts, that doesn't depend on their order. Cheap, another number in each engine, and no proof
-- against forgery. NULL without rows.
CREATE OR REPLACE FUNCTION checksum AS (row_text) -> groupBitXor(sipHash64(row_text));
