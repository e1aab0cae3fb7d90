-- The key of the group that a row belongs to, by what the rows are grouped by; `other` where it's none of these columns.
CREATE OR REPLACE FUNCTION group_key_of(group_by, user_id, agent, client, repo, other) AS
  CASE group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent WHEN 'client' THEN client WHEN 'repo' THEN repo ELSE other END;
