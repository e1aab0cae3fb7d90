-- Whether a team or cost centre can have this name. Answers give names in brackets to groups that are none, such as "(none)".
CREATE OR REPLACE FUNCTION is_group_name(name) AS
  regexp_matches(name, '^[^(]')
  AND regexp_matches(name, '[^\s\p{Z}]')
  AND NOT regexp_matches(name, '\p{Cc}');
