-- One row is one day on which other events count than before, because the events of another day have changed. Due days are included:
-- they are built anyway, and this is the reason why their rows change.
-- Reads fresh_shadows, and shadowed_events as the last builds left it. Grain: (org_id, day).
SELECT DISTINCT
  org_id,
  day
FROM (
  SELECT
    org_id,
    day
  FROM (
    SELECT org_id, day, event_id, reason, 1 AS is_fresh FROM fresh_shadows
    UNION ALL
    SELECT org_id, day, event_id, reason, 0 AS is_fresh
    FROM shadowed_events
    WHERE (org_id, day) IN (SELECT org_id, day FROM shadow_days)
  ) AS shadow
  GROUP BY
    org_id,
    day,
    event_id
  -- The reason channel is looked for on due days alone, and depends on no other day.
  HAVING count(*) = 1
    AND (max(is_fresh) = 1 OR max(reason) <> 'channel')
) AS moved
