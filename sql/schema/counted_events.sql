-- One row is one event that counts: all events except those of shadowed_events. Until its day is built every event counts.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW counted_events AS
SELECT *
FROM decided_events
WHERE (org_id, day, event_id) NOT IN (SELECT org_id, day, event_id FROM shadowed_events)
