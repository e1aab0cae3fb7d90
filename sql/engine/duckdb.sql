-- The functions whose SQL is specific to DuckDB. clickhouse.sql has the same names; the rules that use them are in sql/function.

-- An instant from Unix milliseconds.
CREATE OR REPLACE FUNCTION instant(ms) AS make_timestamp_ms(CAST(ms AS BIGINT));

-- Exact percentiles, by linear interpolation between closest ranks (R-7).
CREATE OR REPLACE FUNCTION percentile(share, x) AS quantile_cont(x, share);

-- A name without the white space around it.
CREATE OR REPLACE FUNCTION stripped(name) AS trim(name, chr(32) || chr(9) || chr(10) || chr(11) || chr(12) || chr(13));

-- A text in lower case, letter by letter.
CREATE OR REPLACE FUNCTION lower_case(text) AS lower(text);

-- A text with every match of a regular expression replaced.
CREATE OR REPLACE FUNCTION replaced(text, pattern, replacement) AS regexp_replace(text, pattern, replacement, 'g');

-- A double in the row text that a digest is computed from: the integer of its 64 bits (IEEE 754), because engines write the same
-- double differently. NULL is an empty field. Adding 0 turns -0 into 0.
CREATE OR REPLACE FUNCTION double_field(value) AS coalesce(CAST(CAST(CAST(value + 0.0 AS BIT) AS BIGINT) AS VARCHAR), '');

-- The digest of rows, given their texts: the hexadecimal SHA-256 of the texts in byte order, with line feeds in between.
CREATE OR REPLACE FUNCTION digest(row_text) AS sha256(string_agg(row_text, chr(10) ORDER BY row_text));

-- The digest of rows of which there can be millions, given their texts: it needs no order and little memory. The hexadecimal SHA-256 of
-- a number in decimal digits: the last 8 bytes of the MD5 of each text, as little-endian integers, combined by exclusive or.
CREATE OR REPLACE FUNCTION unordered_digest(row_text) AS sha256(CAST(bit_xor(md5_number_lower(row_text)) AS VARCHAR));

-- A checksum of rows that doesn't depend on their order. It is cheap, differs between engines and doesn't detect forgery. NULL without
-- rows.
CREATE OR REPLACE FUNCTION checksum(row_text) AS bit_xor(hash(row_text));

-- A number of 64 bits that stands for a session of a user. It differs between engines, and more than one session can have it.
CREATE OR REPLACE FUNCTION session_key(user_id, session_id) AS md5_number_lower(concat(user_id, chr(10), session_id));
