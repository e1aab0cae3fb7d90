-- One row is one kind of file that one user changed on one day: an extension and a language.
-- Grain: (org_id, day, user_id, extension, language).
CREATE TABLE user_extensions (
  org_id         VARCHAR NOT NULL,
  day            DATE NOT NULL,
  user_id        VARCHAR NOT NULL,
  extension      VARCHAR NOT NULL,  -- lower-case, with the dot; '' if there is none
  language       VARCHAR NOT NULL,  -- '' if unknown
  files_created  BIGINT NOT NULL,
  files_edited   BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, extension, language)
