-- The functions that the two engines spell differently, for DuckDB. The same names are in clickhouse.sql.

-- An instant from Unix milliseconds.
CREATE OR REPLACE MACRO instant(ms) AS make_timestamp_ms(CAST(ms AS BIGINT));

-- Quotient of two counts; 0 where there is nothing to divide by.
CREATE OR REPLACE MACRO ratio(n, d) AS CASE WHEN d = 0 THEN 0.0 ELSE CAST(n AS DOUBLE) / CAST(d AS DOUBLE) END;

-- Exact percentiles, by linear interpolation between closest ranks (R-7).
CREATE OR REPLACE MACRO percentile(share, x) AS quantile_cont(x, share);
CREATE OR REPLACE MACRO p50(x) AS percentile(0.5, x);
CREATE OR REPLACE MACRO p90(x) AS percentile(0.9, x);

-- A name without the white space around it.
CREATE OR REPLACE MACRO stripped(name) AS trim(name, chr(32) || chr(9) || chr(10) || chr(11) || chr(12) || chr(13));

-- A text in lower case, letter by letter.
CREATE OR REPLACE MACRO lower_case(text) AS lower(text);

-- Whether a tool's name is one that an agent can have called. Others are left-overs of parsing.
CREATE OR REPLACE MACRO is_tool_name(name) AS regexp_matches(stripped(name), '^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$');

-- The name that a tool has within its MCP server, from either spelling of a full name; else ''.
CREATE OR REPLACE MACRO mcp_tool_of(name) AS
  coalesce(nullif(regexp_extract(name, '^mcp__(.+?)__(.+)$', 2), ''), regexp_extract(name, '^(.+?)___(.+)$', 2));

-- The MCP server that a tool's full name holds; else ''.
CREATE OR REPLACE MACRO mcp_server_of(name) AS
  coalesce(nullif(regexp_extract(name, '^mcp__(.+?)__(.+)$', 1), ''), regexp_extract(name, '^(.+?)___(.+)$', 1));

-- The server key: servers whose names differ only by letter case are one. NULL when the call is not an MCP call.
CREATE OR REPLACE MACRO server_key(name, server) AS
  lower_case(nullif(coalesce(nullif(stripped(server), ''), stripped(mcp_server_of(stripped(name)))), ''));

-- The tool key: mcp__<server key>__<tool> for an MCP call, else the tool's name.
CREATE OR REPLACE MACRO tool_key(name, server) AS
  CASE
    WHEN server_key(name, server) IS NULL THEN stripped(name)
    ELSE 'mcp__' || server_key(name, server) || '__' || coalesce(nullif(mcp_tool_of(stripped(name)), ''), stripped(name))
  END;

-- A path's last part, after the last slash or backslash.
CREATE OR REPLACE MACRO file_name(path) AS regexp_extract(path, '([^/\\]*)$', 1);

-- A path's extension with its dot, lower-case; '' when there is none. A dot file such as .env has none; a line break can be in a name.
CREATE OR REPLACE MACRO extension_of(path) AS lower_case(regexp_extract(file_name(path), '(?s)^.+(\.[^.]+)$', 1));

-- The autonomy level of a mode; unknown when there is no mode.
CREATE OR REPLACE MACRO autonomy_level(mode) AS
  CASE mode
    WHEN 'auto-high' THEN 'auto_high'
    WHEN 'auto-medium' THEN 'auto_medium'
    WHEN 'auto-low' THEN 'auto_low'
    WHEN 'spec' THEN 'manual'
    WHEN 'manual' THEN 'manual'
    ELSE 'unknown'
  END;

-- A rate of the rate card as an integer: millionths.
CREATE OR REPLACE MACRO millionths(rate) AS CAST(floor(rate * 1000000 + 0.5) AS HUGEINT);

-- Standard credits, rounded half up. In integers, since 0.35 x 90 tokens are 31.5 and not a little less.
CREATE OR REPLACE MACRO credits(multiplier, tokens, write_rate, write_tokens, read_rate, read_tokens) AS
  CAST((
    millionths(multiplier) * (
      CAST(tokens AS HUGEINT) * 1000000
      + CAST(write_tokens AS HUGEINT) * millionths(write_rate)
      + CAST(read_tokens AS HUGEINT) * millionths(read_rate)
    ) + 500000000000
  ) // 1000000000000 AS BIGINT);

-- The last two parts of a path's extension, lower-case, as .blade.php; '' when there are no two.
CREATE OR REPLACE MACRO long_extension_of(path) AS lower_case(regexp_extract(file_name(path), '(?s)^.+(\.[^.]+\.[^.]+)$', 1));

-- A value as it stands in the row text that a digest is of: the field of a CSV line. A text is always in quotes, so that no
-- value can look like two. NULL is nothing, which the empty text is not: concat has no text for it.
CREATE OR REPLACE MACRO text_field(value) AS '"' || replace(value, '"', '""') || '"';
CREATE OR REPLACE MACRO integer_field(value) AS CAST(value AS VARCHAR);
CREATE OR REPLACE MACRO day_field(value) AS CAST(value AS VARCHAR);

-- A double as the integer that its 64 bits (IEEE 754) are, since engines write one and the same double in several ways.
-- Adding 0 makes 0 of -0.
CREATE OR REPLACE MACRO double_field(value) AS CAST(CAST(CAST(value + 0.0 AS BIT) AS BIGINT) AS VARCHAR);

-- The digest of rows, given their texts: SHA-256, hexadecimal, of the texts in byte order with a line feed between.
CREATE OR REPLACE MACRO digest(row_text) AS sha256(string_agg(row_text, chr(10) ORDER BY row_text));

-- What to say of a number that was counted in two ways: '' when both are the same. One that is missing is 0.
CREATE OR REPLACE MACRO disagreement(claim, counted, of_day) AS
  CASE
    WHEN coalesce(counted, 0) = coalesce(of_day, 0) THEN ''
    ELSE claim || ' ' || CAST(coalesce(counted, 0) AS VARCHAR) || ' where the day has ' || CAST(coalesce(of_day, 0) AS VARCHAR) || '; '
  END;

-- What rows can be told by, given their texts, whatever their order: cheap, another number in each engine, and no proof against
-- who wants two to be the same. NULL where there are none.
CREATE OR REPLACE MACRO checksum(row_text) AS bit_xor(hash(row_text));

-- A model's name without the date at its end, as -20250929, -2025-09-29 or @20250929.
CREATE OR REPLACE MACRO undated(name) AS regexp_replace(name, '[-@]20[0-9]{2}(-[0-9]{2}-[0-9]{2}|[0-9]{4})$', '');

-- What tokens cost, in USD, given the price of a million of them. Exact: nothing is rounded. Nothing costs 0 at any price, known or not.
CREATE OR REPLACE MACRO usd(price, tokens) AS
  CASE
    WHEN tokens = 0 THEN CAST(0 AS DECIMAL(38, 12))
    ELSE CAST(
      CAST(price AS DECIMAL(12, 6)) * CAST(0.000001 AS DECIMAL(6, 6)) * CAST(tokens AS DECIMAL(19, 0)) AS DECIMAL(38, 12)
    )
  END;

-- A text without the passwords and tokens of the addresses in it: withoutCredentials of src/url-credentials.ts in SQL. The
-- expressions are the same.
CREATE OR REPLACE MACRO without_credentials(text) AS
  CASE
    -- Few texts have any, and looking for a letter is cheap.
    WHEN NOT contains(text, '@') AND NOT contains(text, '=') THEN text
    ELSE
      regexp_replace(
        regexp_replace(
          regexp_replace(
            regexp_replace(
              text,
              '(?i)((?:[a-z][a-z0-9.-]{0,20}\+)?https?://)[^\s/"<>]*@',
              '\1',
              'g'
            ),
            '(?i)([a-z][a-z0-9+.-]{0,30}://[^\s/"<>:@]*?)(?::|%3a)[^\s/"<>]*@',
            '\1@',
            'g'
          ),
          '(^|[\s''"(=])([^\s/:@''"(=]+):[^\s/:@''"]+@([^\s/:@''"]+:)',
          '\1\2@\3',
          'g'
        ),
        '(?i)([?&;#](?:[\w.-]{0,40}(?:token|secret|passw(?:or)?d|signature|credential|api[-_]?key)[\w.-]{0,20}|key|pass|pwd|sig|auth|authorization|jwt|pat|[\w.-]{0,40}%[\w.%-]{0,80})=)[^\s&;#"''<>\\]+',
        '\1***',
        'g'
      )
  END;
