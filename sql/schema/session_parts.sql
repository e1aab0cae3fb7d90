-- One row is one part of a session on one day: what one user did in it with one agent, on one client and in one repository. A session,
-- file, commit or pull request of several parts counts for the last of them by agent, then client, then repository.
-- Grain: (org_id, day, user_id, session_id, agent, client, repo).
CREATE TABLE session_parts (
  org_id              VARCHAR NOT NULL,
  day                 DATE NOT NULL,
  user_id             VARCHAR NOT NULL,
  session_id          VARCHAR NOT NULL,
  agent               VARCHAR NOT NULL,  -- '' if the events name none
  client              VARCHAR NOT NULL,  -- '' if the events name none
  repo                VARCHAR NOT NULL,  -- its key, as github.com/acme/api; '' if the events name none
  sessions            BIGINT NOT NULL,   -- 1 if the session started on this day and counts for this part
  user_messages       BIGINT NOT NULL,
  assistant_messages  BIGINT NOT NULL,
  tool_calls          BIGINT NOT NULL,
  failed_calls        BIGINT NOT NULL,   -- tool calls that failed; refused and interrupted ones haven't
  calls_with_outcome  BIGINT NOT NULL,   -- tool calls that are known to have succeeded or failed
  files_created       BIGINT NOT NULL,
  files_edited        BIGINT NOT NULL,
  git_commits         BIGINT NOT NULL,
  git_prs_created     BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, session_id, agent, client, repo)
