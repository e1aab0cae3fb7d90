-- The session in which events of several channels are compared: events that name none are compared with those of their user.
CREATE OR REPLACE FUNCTION compared_session(session_id, user_id) AS
  CASE WHEN session_id = '' THEN concat('(none) ', user_id) ELSE session_id END;
