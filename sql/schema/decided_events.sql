-- One row is one stored event with the user for whom it counts: see decided_users and user_aliases. Until its day is built that is the user
-- whom it names.
-- Grain: (org_id, day, event_id).
-- TRICKY: queries call a column `events`, and ClickHouse would take that for the table in a view that it reads within them. It also gives the
-- columns of a star other names where three tables are joined at once.
CREATE OR REPLACE VIEW decided_events AS
SELECT told_event.* REPLACE (coalesce(user_aliases.user_id, told_event.user_id) AS user_id)
FROM (
  SELECT sent_event.* REPLACE (coalesce(decided_users.user_id, sent_event.user_id) AS user_id)
  FROM events AS sent_event
  LEFT JOIN decided_users
    ON decided_users.org_id = sent_event.org_id
    AND decided_users.day = sent_event.day
    AND decided_users.session_id = sent_event.session_id
    AND decided_users.agent = coalesce(sent_event.agent, '')
    AND decided_users.channel = sent_event.channel
    AND decided_users.named_user_id = sent_event.user_id
    AND names_no_person(sent_event.channel, sent_event.user_id, sent_event.is_installation)
) AS told_event
LEFT JOIN user_aliases
  ON user_aliases.org_id = told_event.org_id
  AND user_aliases.day = told_event.day
  AND user_aliases.named_user_id = told_event.user_id
