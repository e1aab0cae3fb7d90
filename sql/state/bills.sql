-- What the vendors' bills of a range are like. One row is one fetched day of a bill.
-- Grain: (report, day).
SELECT
  report,
  day,
  digest
FROM vendor_bills
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND item = ''
ORDER BY
  report,
  day
