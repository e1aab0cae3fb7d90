-- One row is one agent of one user of a page in one month, on whose days a vendor reported tokens.
-- captured_day is the file captured_day.sql.
-- Grain: (user_id, month, agent).
WITH
compared AS (
  SELECT
    user_id,
    period_of('month', day, day) AS month,
    agent,
    count(*) AS days,
    count(*) FILTER (WHERE difference_ratio(captured_tokens, vendor_tokens) > 0.01) AS days_disagreeing,
    sum(vendor_tokens) AS vendor_tokens,
    sum(captured_tokens) AS captured_tokens,
    sum(vendor_usd) AS vendor_usd,
    sum(CASE WHEN vendor_usd IS NOT NULL THEN captured_usd END) AS captured_usd,
    sum(CASE WHEN vendor_usd IS NOT NULL THEN captured_unpriced_tokens END) AS captured_unpriced_tokens
  FROM captured_day
  WHERE vendor_tokens > 0
    AND user_id BETWEEN $first_user_id AND $last_user_id
    AND ($user_id IS NULL OR user_id IN $user_id)
    AND ($team IS NULL AND $cost_center IS NULL OR (user_id, day) IN (SELECT user_id, day FROM placed_user))
  GROUP BY
    user_id,
    period_of('month', day, day),
    agent
)
SELECT
  CAST(compared.user_id AS VARCHAR) AS user_id,
  CAST(known_emails.user_email AS VARCHAR) AS user_email,
  CAST(compared.month AS DATE) AS month,
  CAST(compared.agent AS VARCHAR) AS agent,
  CAST(compared.days AS BIGINT) AS days,
  CAST(compared.days_disagreeing AS BIGINT) AS days_disagreeing,
  CAST(compared.vendor_tokens AS BIGINT) AS vendor_tokens,
  CAST(compared.captured_tokens AS BIGINT) AS captured_tokens,
  CAST(ratio(compared.captured_tokens, compared.vendor_tokens) AS DOUBLE) AS captured_ratio,
  CAST(difference_ratio(compared.captured_tokens, compared.vendor_tokens) AS DOUBLE) AS token_difference_ratio,
  CAST(compared.vendor_usd AS DECIMAL(38, 12)) AS vendor_usd,
  CAST(compared.captured_usd AS DECIMAL(38, 12)) AS captured_usd,
  CAST(CASE WHEN compared.vendor_usd > 0 THEN ratio(compared.captured_usd, compared.vendor_usd) END AS DOUBLE) AS captured_cost_ratio,
  CAST(difference_ratio(compared.captured_usd, compared.vendor_usd) AS DOUBLE) AS cost_difference_ratio,
  CAST(compared.captured_unpriced_tokens AS BIGINT) AS captured_unpriced_tokens
FROM compared
LEFT JOIN known_emails
  ON known_emails.org_id = $org_id
  AND known_emails.user_id BETWEEN $first_user_id AND $last_user_id
  AND known_emails.user_id = compared.user_id
