-- One row is one readiness report, as it was when it came.
-- Grain: (report_id).
CREATE TABLE readiness_reports (
  org_id      VARCHAR NOT NULL,
  report_id   VARCHAR NOT NULL,       -- a UUID
  created_at  TIMESTAMP(3) NOT NULL,
  repo_id     VARCHAR NOT NULL,       -- repo_ and the start of the SHA-256 of repo
  repo        VARCHAR NOT NULL,       -- the normalized address, as github.com/acme/api: lists are in its order
  document    VARCHAR NOT NULL        -- the report as the API answers it, in JSON
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, created_at, report_id)
