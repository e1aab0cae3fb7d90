-- The key of the group that a row belongs to, by what the rows are grouped by; `other` where it's none of these columns.
CREATE OR REPLACE FUNCTION group_key_of(group_by, user_id, agent, client, repo, team, cost_center, other) AS
  CASE group_by
    WHEN 'user' THEN user_id
    WHEN 'agent' THEN agent
    WHEN 'client' THEN client
    WHEN 'repo' THEN repo
    WHEN 'team' THEN coalesce(team, '')
    WHEN 'cost_center' THEN coalesce(cost_center, '')
    ELSE other
  END;
