-- One row is one day of one organization.
-- Grain: (org_id, day).
CREATE TABLE productivity (
  org_id           VARCHAR NOT NULL,
  day              DATE NOT NULL,
  files_created    BIGINT NOT NULL,
  files_edited     BIGINT NOT NULL,
  git_commits      BIGINT NOT NULL,
  git_prs_created  BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day)
