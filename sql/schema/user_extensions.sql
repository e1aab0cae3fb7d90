-- One row is one kind of file that one agent of one user changed on one day: an extension and a language.
-- Grain: (org_id, day, user_id, extension, language, agent).
CREATE TABLE user_extensions (
  org_id         VARCHAR NOT NULL,
  day            DATE NOT NULL,
  user_id        VARCHAR NOT NULL,
  extension      VARCHAR NOT NULL,  -- lower-case, with the dot; '' if there is none
  language       VARCHAR NOT NULL,  -- '' if unknown
  agent          VARCHAR NOT NULL,  -- '' if the events name none
  files_created  BIGINT NOT NULL,
  files_edited   BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, extension, language, agent)
