-- The functions that the two engines spell differently, for ClickHouse. The same names are in duckdb.sql.
-- A backslash in a ClickHouse string is doubled, a quote too (src/store/definition.ts knows no other way), and its regular expressions let . match a line break unless told (?-s).

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

-- Quotient of two counts; 0 where there is nothing to divide by.
CREATE OR REPLACE FUNCTION ratio AS (n, d) -> CASE WHEN d = 0 THEN 0.0 ELSE toFloat64(n) / toFloat64(d) END;

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
CREATE OR REPLACE FUNCTION p50 AS (x) -> percentile(0.5, x);
CREATE OR REPLACE FUNCTION p90 AS (x) -> percentile(0.9, x);

-- A name without the white space around it.
CREATE OR REPLACE FUNCTION stripped AS (name) -> trimBoth(name, ' \t\n\v\f\r');

-- A text in lower case, letter by letter. ClickHouse by itself makes two characters of one, and looks at a word's end.
CREATE OR REPLACE FUNCTION lower_case AS (text) -> substringUTF8(lowerUTF8(concat('x', translateUTF8(text, 'İΣ', 'iσ'))), 2);

-- Whether a tool's name is one that an agent can have called. Others are left-overs of parsing.
CREATE OR REPLACE FUNCTION is_tool_name AS (name) -> match(stripped(name), '^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$');

-- The name that a tool has within its MCP server, from either spelling of a full name; else ''.
CREATE OR REPLACE FUNCTION mcp_tool_of AS (name) ->
  coalesce(nullif(regexpExtract(name, '(?-s)^mcp__(.+?)__(.+)$', 2), ''), regexpExtract(name, '(?-s)^(.+?)___(.+)$', 2));

-- The MCP server that a tool's full name holds; else ''.
CREATE OR REPLACE FUNCTION mcp_server_of AS (name) ->
  coalesce(nullif(regexpExtract(name, '(?-s)^mcp__(.+?)__(.+)$', 1), ''), regexpExtract(name, '(?-s)^(.+?)___(.+)$', 1));

-- The server key: servers whose names differ only by letter case are one. NULL when the call is not an MCP call.
CREATE OR REPLACE FUNCTION server_key AS (name, server) ->
  lower_case(nullif(coalesce(nullif(stripped(server), ''), stripped(mcp_server_of(stripped(name)))), ''));

-- The tool key: mcp__<server key>__<tool> for an MCP call, else the tool's name.
CREATE OR REPLACE FUNCTION tool_key AS (name, server) ->
  CASE
    WHEN server_key(name, server) IS NULL THEN stripped(name)
    ELSE concat('mcp__', server_key(name, server), '__', coalesce(nullif(mcp_tool_of(stripped(name)), ''), stripped(name)))
  END;

-- A path's last part, after the last slash or backslash.
CREATE OR REPLACE FUNCTION file_name AS (path) -> regexpExtract(path, '([^/\\\\]*)$', 1);

-- A path's extension with its dot, lower-case; '' when there is none. A dot file such as .env has none; a line break can be in a name.
CREATE OR REPLACE FUNCTION extension_of AS (path) -> lower_case(regexpExtract(file_name(path), '(?s)^.+(\\.[^.]+)$', 1));

-- The autonomy level of a mode; unknown when there is no mode.
CREATE OR REPLACE FUNCTION autonomy_level AS (mode) ->
  CASE
    WHEN mode = 'auto-high' THEN 'auto_high'
    WHEN mode = 'auto-medium' THEN 'auto_medium'
    WHEN mode = 'auto-low' THEN 'auto_low'
    WHEN mode IN ('spec', 'manual') THEN 'manual'
    ELSE 'unknown'
  END;

-- A rate of the rate card as an integer: millionths.
CREATE OR REPLACE FUNCTION millionths AS (rate) -> toInt128(floor(toFloat64(rate) * 1000000 + 0.5));

-- Standard credits, rounded half up. In integers, since 0.35 x 90 tokens are 31.5 and not a little less.
CREATE OR REPLACE FUNCTION credits AS (multiplier, tokens, write_rate, write_tokens, read_rate, read_tokens) ->
  toInt64(intDiv(
    millionths(multiplier) * (
      toInt128(tokens) * 1000000
      + toInt128(write_tokens) * millionths(write_rate)
      + toInt128(read_tokens) * millionths(read_rate)
    ) + 500000000000,
    toInt128(1000000000000)
  ));

-- The last two parts of a path's extension, lower-case, as .blade.php; '' when there are no two.
CREATE OR REPLACE FUNCTION long_extension_of AS (path) -> lower_case(regexpExtract(file_name(path), '(?s)^.+(\\.[^.]+\\.[^.]+)$', 1));

-- A value as it stands in the row text that a digest is of: the field of a CSV line. A text is always in quotes, so that no
-- value can look like two. NULL is nothing, which the empty text is not.
CREATE OR REPLACE FUNCTION text_field AS (value) -> coalesce(concat('"', replaceAll(value, '"', '""'), '"'), '');
CREATE OR REPLACE FUNCTION integer_field AS (value) -> coalesce(toString(value), '');
CREATE OR REPLACE FUNCTION day_field AS (value) -> coalesce(toString(value), '');

-- A double as the integer that its 64 bits (IEEE 754) are, since engines write one and the same double in several ways.
-- Adding 0 makes 0 of -0.
CREATE OR REPLACE FUNCTION double_field AS (value) ->
  if(isNull(value), '', toString(reinterpretAsInt64(assumeNotNull(toFloat64(value)) + 0.0)));

-- The digest of rows, given their texts: SHA-256, hexadecimal, of the texts in byte order with a line feed between.
CREATE OR REPLACE FUNCTION digest AS (row_text) -> lower(hex(SHA256(arrayStringConcat(arraySort(groupArray(row_text)), '\n'))));

-- What to say of a number that was counted in two ways: '' when both are the same. One that is missing is 0.
CREATE OR REPLACE FUNCTION disagreement AS (claim, counted, of_day) ->
  CASE
    WHEN coalesce(counted, 0) = coalesce(of_day, 0) THEN ''
    ELSE concat(claim, ' ', toString(coalesce(counted, 0)), ' where the day has ', toString(coalesce(of_day, 0)), '; ')
  END;

-- What rows can be told by, given their texts, whatever their order: cheap, another number in each engine, and no proof against
-- who wants two to be the same. NULL where there are none.
CREATE OR REPLACE FUNCTION checksum AS (row_text) -> groupBitXor(sipHash64(row_text));

-- A model's name without the date at its end, as -20250929, -2025-09-29 or @20250929.
CREATE OR REPLACE FUNCTION undated AS (name) -> replaceRegexpOne(name, '[-@]20[0-9]{2}(-[0-9]{2}-[0-9]{2}|[0-9]{4})$', '');

-- What tokens cost, in USD, given the price of a million of them. Exact: nothing is rounded. Nothing costs 0 at any price, known or not.
CREATE OR REPLACE FUNCTION usd AS (price, tokens) ->
  CASE
    WHEN tokens = 0 THEN CAST(0, 'Nullable(Decimal(38, 12))')
    ELSE CAST(price, 'Nullable(Decimal(38, 6))') * CAST('0.000001', 'Decimal(38, 6)') * CAST(tokens, 'Nullable(Decimal(38, 0))')
  END;

-- A text without the passwords and tokens of the addresses in it: withoutCredentials of src/url-credentials.ts in SQL. The
-- expressions are the same.
CREATE OR REPLACE FUNCTION without_credentials AS (text) ->
  replaceRegexpAll(
    replaceRegexpAll(
      replaceRegexpAll(
        replaceRegexpAll(
          text,
          '(?i)((?:[a-z][a-z0-9.-]{0,20}\\+)?https?://)[^\\s/"<>]*@',
          '\\1'
        ),
        '(?i)([a-z][a-z0-9+.-]{0,30}://[^\\s/"<>:@]*?)(?::|%3a)[^\\s/"<>]*@',
        '\\1@'
      ),
      '(^|[\\s''"(=])([^\\s/:@''"(=]+):[^\\s/:@''"]+@([^\\s/:@''"]+:)',
      '\\1\\2@\\3'
    ),
    '(?i)([?&;#](?:[\\w.-]{0,40}(?:token|secret|passw(?:or)?d|signature|credential|api[-_]?key)[\\w.-]{0,20}|key|pass|pwd|sig|auth|authorization|jwt|pat|[\\w.-]{0,40}%[\\w.%-]{0,80})=)[^\\s&;#"''<>\\\\]+',
    '\\1***'
  );
