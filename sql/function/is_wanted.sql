-- Whether a group is among those that are asked for: its key is one of the keys, and has the text in it, in upper or lower case. Without
-- keys or a text all are. Keys are one text, with a comma before and behind each; in a key, a comma is written ~c and ~ is written ~~.
CREATE OR REPLACE FUNCTION is_wanted(group_key, keys, text) AS
  (keys IS NULL OR position(concat(',', replace(replace(group_key, '~', '~~'), ',', '~c'), ',') IN coalesce(keys, '')) > 0)
  AND (text IS NULL OR position(lower_case(coalesce(text, '')) IN lower_case(group_key)) > 0);
