-- Whether the user of an event is none: telemetry that names an installation of an agent, or nobody. Only such events can count for
-- another user than they name.
CREATE OR REPLACE FUNCTION names_no_person(channel, user_id, is_installation) AS
  channel IN ('otlp_log', 'otlp_span', 'otlp_metric') AND (user_id = 'unknown' OR coalesce(is_installation, FALSE));
