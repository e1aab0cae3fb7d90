-- A text without the passwords and tokens of the addresses in it: withoutCredentials of src/network/url-credentials.ts in SQL,
-- in expressions of RE2, whose time is linear.
CREATE OR REPLACE FUNCTION without_credentials(text) AS
  CASE
    -- Few texts have any, and searching for a character is cheap.
    WHEN text NOT LIKE '%@%' AND text NOT LIKE '%=%' THEN text
    ELSE
      replaced(
        replaced(
          replaced(
            replaced(
              text,
              '(?i)((?:[a-z][a-z0-9.-]{0,20}\+)?https?://)[^\s/"<>]*@',
              '\1'
            ),
            '(?i)([a-z][a-z0-9+.-]{0,30}://[^\s/"<>:@]*?)(?::|%3a)[^\s/"<>]*@',
            '\1@'
          ),
          '(^|[\s''"(=])([^\s/:@''"(=]+):[^\s/:@''"]+@([^\s/:@''"]+:)',
          '\1\2@\3'
        ),
        '(?i)([?&;#](?:[\w.-]{0,40}(?:token|secret|passw(?:or)?d|signature|credential|api[-_]?key)[\w.-]{0,20}|key|pass|pwd|sig|auth|authorization|jwt|pat|[\w.-]{0,40}%[\w.%-]{0,80})=)[^\s&;#"''<>\\]+',
        '\1***'
      )
  END;
