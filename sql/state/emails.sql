-- One row is a checksum of the e-mails of an organization's users. E-mails come with events, not with builds, and no day table has
-- them.
-- Grain: ().
SELECT
  CAST(checksum(concat(text_field(user_id), ',', text_field(user_email))) AS VARCHAR) AS checksum
FROM known_emails
WHERE org_id = $org_id
