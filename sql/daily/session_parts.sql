-- One row is one part of a session on one day: what one user did in it with one agent, on one client and in one repository. The parts
-- of a session add up to it: a session, file, commit or pull request of several parts counts for the last of them by agent, then client,
-- then repository.
-- Grain: (org_id, day, user_id, session_id, agent, client, repo).
-- Looks back: to the first day, for sessions that started earlier (other_starts).
WITH
-- Keys are computed once per spelling of a name, not once per event.
keyed_repo AS MATERIALIZED (
  SELECT
    repo,
    repo_key(repo) AS repo_key
  FROM (
    SELECT DISTINCT coalesce(repo, '') AS repo
    FROM counted_events
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  ) AS name
),
part AS MATERIALIZED (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    coalesce(agent, '') AS agent,
    coalesce(client, '') AS client,
    keyed_repo.repo_key AS repo,
    count(*) FILTER (WHERE type = 'user_message') AS user_messages,
    count(*) FILTER (WHERE type = 'assistant_message') AS assistant_messages
  FROM counted_events
  JOIN keyed_repo
    ON keyed_repo.repo = coalesce(counted_events.repo, '')
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    session_id,
    coalesce(agent, ''),
    coalesce(client, ''),
    keyed_repo.repo_key
),
last_part AS (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo
  FROM part
  QUALIFY row_number() OVER (
    PARTITION BY org_id, day, user_id, session_id
    ORDER BY agent DESC, client DESC, repo DESC
  ) = 1
),
-- The start day of a session is the first day on which it has a row.
session_start AS (
  SELECT
    org_id,
    user_id,
    session_id,
    min(day) AS day
  FROM (
    SELECT org_id, user_id, session_id, day FROM user_sessions WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    UNION ALL
    SELECT org_id, user_id, session_id, day FROM other_starts
  ) AS session_day
  GROUP BY
    org_id,
    user_id,
    session_id
),
started AS (
  SELECT
    last_part.org_id AS org_id,
    last_part.day AS day,
    last_part.user_id AS user_id,
    last_part.session_id AS session_id,
    last_part.agent AS agent,
    last_part.client AS client,
    last_part.repo AS repo,
    1 AS sessions
  FROM last_part
  -- Events that name no session are in none.
  JOIN session_start
    ON session_start.org_id = last_part.org_id
    AND session_start.user_id = last_part.user_id
    AND session_start.session_id = last_part.session_id
    AND session_start.day = last_part.day
  WHERE last_part.session_id <> ''
),
called AS (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo,
    sum(tool_calls) AS tool_calls,
    sum(failed_calls) AS failed_calls,
    sum(calls_with_outcome) AS calls_with_outcome
  FROM session_tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo
),
-- A file counts once per session. It counts as created if it was created on that day, otherwise as edited.
file AS (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo,
    sum(is_created) AS files_created,
    sum(1 - is_created) AS files_edited
  FROM (
    SELECT
      org_id,
      day,
      user_id,
      session_id,
      agent,
      client,
      repo,
      max(is_created) OVER (PARTITION BY org_id, day, user_id, session_id, path) AS is_created,
      row_number() OVER (
        PARTITION BY org_id, day, user_id, session_id, path
        ORDER BY agent DESC, client DESC, repo DESC
      ) AS place
    FROM (
      SELECT
        org_id,
        day,
        user_id,
        session_id,
        coalesce(agent, '') AS agent,
        coalesce(client, '') AS client,
        keyed_repo.repo_key AS repo,
        path,
        max(CASE WHEN operation = 'create' THEN 1 ELSE 0 END) AS is_created
      FROM file_changes
      JOIN keyed_repo
        ON keyed_repo.repo = coalesce(file_changes.repo, '')
      WHERE (org_id, day) IN (SELECT org_id, day FROM due)
      GROUP BY
        org_id,
        day,
        user_id,
        session_id,
        coalesce(agent, ''),
        coalesce(client, ''),
        keyed_repo.repo_key,
        path
    ) AS changed
  ) AS ordered
  WHERE place = 1
  GROUP BY
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo
),
-- A commit or pull request counts once per user and day. One without a hash or URL counts by itself.
git_commit AS (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo,
    count(*) AS git_commits
  FROM (
    SELECT
      org_id,
      day,
      user_id,
      session_id,
      coalesce(agent, '') AS agent,
      coalesce(client, '') AS client,
      keyed_repo.repo_key AS repo
    FROM git_commits
    JOIN keyed_repo
      ON keyed_repo.repo = coalesce(git_commits.repo, '')
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    QUALIFY row_number() OVER (
      PARTITION BY org_id, day, user_id, coalesce('sha ' || commit_sha, 'event ' || event_id)
      ORDER BY coalesce(agent, '') DESC, coalesce(client, '') DESC, keyed_repo.repo_key DESC, session_id DESC
    ) = 1
  ) AS made
  GROUP BY
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo
),
pull_request AS (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo,
    count(*) AS git_prs_created
  FROM (
    SELECT
      org_id,
      day,
      user_id,
      session_id,
      coalesce(agent, '') AS agent,
      coalesce(client, '') AS client,
      keyed_repo.repo_key AS repo
    FROM pull_requests
    JOIN keyed_repo
      ON keyed_repo.repo = coalesce(pull_requests.repo, '')
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    QUALIFY row_number() OVER (
      PARTITION BY org_id, day, user_id, coalesce('url ' || url, 'event ' || event_id)
      ORDER BY coalesce(agent, '') DESC, coalesce(client, '') DESC, keyed_repo.repo_key DESC, session_id DESC
    ) = 1
  ) AS made
  GROUP BY
    org_id,
    day,
    user_id,
    session_id,
    agent,
    client,
    repo
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(session_id AS VARCHAR) AS session_id,
  CAST(agent AS VARCHAR) AS agent,
  CAST(client AS VARCHAR) AS client,
  CAST(repo AS VARCHAR) AS repo,
  CAST(coalesce(started.sessions, 0) AS BIGINT) AS sessions,
  CAST(part.user_messages AS BIGINT) AS user_messages,
  CAST(part.assistant_messages AS BIGINT) AS assistant_messages,
  CAST(coalesce(called.tool_calls, 0) AS BIGINT) AS tool_calls,
  CAST(coalesce(called.failed_calls, 0) AS BIGINT) AS failed_calls,
  CAST(coalesce(called.calls_with_outcome, 0) AS BIGINT) AS calls_with_outcome,
  CAST(coalesce(file.files_created, 0) AS BIGINT) AS files_created,
  CAST(coalesce(file.files_edited, 0) AS BIGINT) AS files_edited,
  CAST(coalesce(git_commit.git_commits, 0) AS BIGINT) AS git_commits,
  CAST(coalesce(pull_request.git_prs_created, 0) AS BIGINT) AS git_prs_created
FROM part
LEFT JOIN started USING (org_id, day, user_id, session_id, agent, client, repo)
LEFT JOIN called USING (org_id, day, user_id, session_id, agent, client, repo)
LEFT JOIN file USING (org_id, day, user_id, session_id, agent, client, repo)
LEFT JOIN git_commit USING (org_id, day, user_id, session_id, agent, client, repo)
LEFT JOIN pull_request USING (org_id, day, user_id, session_id, agent, client, repo)
