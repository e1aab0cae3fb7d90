-- One row is one group in one day, week or month of the range, or in all of it: the totals of its built days.
--
-- Filters and groups: every event has a user, an agent, a client and a repository, so these choose events. A model chooses its own tokens
-- and cost; a tool and an MCP server choose their own calls, those that match both. For every other member they choose the sessions in
-- which the model or such a call occurs on that day. A row of a group has the numbers that a filter by its key gives.
-- What is counted once, though several agents, clients or repositories have a part in it, counts for the last of them by name: a session,
-- file, commit or pull request (session_parts).
-- Sums and distinct counts: a session counts on the day on which it starts, and a file, commit or pull request once on each day, as in
-- the answers per day. Active users, active days and the ratio are those of the row's days.
-- The previous members are those of as many days right before the row's, or of the same weekday four weeks before for a row of one day.
--
-- $detail says which tables are read. They give the same numbers, and the less detailed ones have fewer rows: users if only users are
-- chosen and grouped, agents if agents are too, sessions for everything else.
-- Grain: (period_start, group_key). It returns the page behind the cursor ($after_...).
WITH
built_day AS MATERIALIZED (
  SELECT
    day,
    CASE $period
      WHEN 'day' THEN day
      WHEN 'week' THEN CAST(date_trunc('week', day) AS DATE)
      WHEN 'month' THEN CAST(date_trunc('month', day) AS DATE)
      ELSE $from
    END AS period_start
  FROM activity
  WHERE org_id = $org_id
    AND day BETWEEN $earliest AND $to
),
period AS MATERIALIZED (
  SELECT
    period_start,
    greatest(period_start, $from) AS first_day,
    least(
      CASE $period
        WHEN 'day' THEN period_start
        WHEN 'week' THEN period_start + 6
        WHEN 'month' THEN CAST(date_trunc('month', period_start + 31) AS DATE) - 1
        ELSE $to
      END,
      $to
    ) AS last_day
  FROM built_day
  WHERE day BETWEEN $from AND $to
  GROUP BY period_start
),
-- The days of each row, and those that it is compared with.
row_day AS MATERIALIZED (
  SELECT
    period_start,
    0 AS is_previous,
    day
  FROM built_day
  WHERE day BETWEEN $from AND $to
  UNION ALL
  SELECT
    period.period_start AS period_start,
    1 AS is_previous,
    built_day.day AS day
  FROM period
  CROSS JOIN built_day
  WHERE $compare = 'previous'
    AND built_day.day BETWEEN
      CASE $period
        WHEN 'day' THEN period.first_day - 28
        ELSE period.first_day - CAST(period.last_day - period.first_day + 1 AS INTEGER)
      END
      AND CASE $period WHEN 'day' THEN period.first_day - 28 ELSE period.first_day - 1 END
),
-- Between two days on which prices change, tokens of a model cost the same: they are added up before they are priced.
price_day AS MATERIALIZED (
  SELECT
    row_day.period_start AS period_start,
    row_day.is_previous AS is_previous,
    row_day.day AS day,
    max(changed.valid_from) AS priced_on
  FROM row_day
  CROSS JOIN (
    SELECT valid_from FROM prices
    UNION ALL
    SELECT DATE '1970-01-01'
  ) AS changed
  WHERE changed.valid_from <= row_day.day
  GROUP BY
    row_day.period_start,
    row_day.is_previous,
    row_day.day
),
-- The sessions in which a chosen model or call occurs, and by which group they are found.
chosen_session AS MATERIALIZED (
  SELECT DISTINCT
    day,
    user_id,
    session_id,
    CASE $group_by WHEN 'model' THEN model_id ELSE '' END AS found_by
  FROM session_models
  WHERE $has_model = 1
    AND $has_call = 0
    AND org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
    AND ($model IS NULL OR model_id = $model)
  UNION ALL
  SELECT DISTINCT
    day,
    user_id,
    session_id,
    CASE $group_by WHEN 'tool' THEN tool_key WHEN 'mcp_server' THEN server_key ELSE '' END AS found_by
  FROM session_tools
  WHERE $has_model = 0
    AND $has_call = 1
    AND org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
    AND ($tool IS NULL OR tool_key = $tool)
    AND ($mcp_server IS NULL OR server_key = $mcp_server)
    AND ($group_by <> 'mcp_server' OR server_key <> '')
  UNION ALL
  SELECT DISTINCT
    session_tools.day AS day,
    session_tools.user_id AS user_id,
    session_tools.session_id AS session_id,
    CASE $group_by
      WHEN 'model' THEN session_models.model_id
      WHEN 'tool' THEN session_tools.tool_key
      WHEN 'mcp_server' THEN session_tools.server_key
      ELSE ''
    END AS found_by
  FROM session_tools
  JOIN session_models
    ON session_models.org_id = session_tools.org_id
    AND session_models.day = session_tools.day
    AND session_models.user_id = session_tools.user_id
    AND session_models.session_id = session_tools.session_id
  WHERE $has_model = 1
    AND $has_call = 1
    AND session_tools.org_id = $org_id
    AND session_tools.day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR session_tools.user_id = $user_id)
    AND ($tool IS NULL OR session_tools.tool_key = $tool)
    AND ($mcp_server IS NULL OR session_tools.server_key = $mcp_server)
    AND ($group_by <> 'mcp_server' OR session_tools.server_key <> '')
    AND session_models.org_id = $org_id
    AND session_models.day BETWEEN $earliest AND $to
    AND ($model IS NULL OR session_models.model_id = $model)
),
-- What users did on a day, in the group.
user_day AS (
  SELECT
    day,
    CASE $group_by WHEN 'user' THEN user_id ELSE '' END AS group_key,
    user_id,
    sessions AS sessions,
    user_messages AS user_turns,
    tool_calls AS tool_calls,
    files_created + files_edited AS files,
    git_commits AS commits,
    git_prs_created AS pull_requests
  FROM users
  WHERE $detail = 'users'
    AND org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
  UNION ALL
  SELECT
    day,
    CASE $group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent ELSE '' END AS group_key,
    user_id,
    sessions AS sessions,
    user_messages AS user_turns,
    tool_calls AS tool_calls,
    files_created + files_edited AS files,
    git_commits AS commits,
    git_prs_created AS pull_requests
  FROM user_agents
  WHERE $detail = 'agents'
    AND org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
    AND ($agent IS NULL OR agent = $agent)
  UNION ALL
  SELECT
    day,
    group_key,
    user_id,
    sum(sessions) AS sessions,
    sum(user_turns) AS user_turns,
    sum(tool_calls) AS tool_calls,
    sum(files) AS files,
    sum(commits) AS commits,
    sum(pull_requests) AS pull_requests
  FROM (
    SELECT
      day,
      CASE $group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent WHEN 'client' THEN client WHEN 'repo' THEN repo ELSE '' END AS group_key,
      user_id,
      sessions AS sessions,
      user_messages AS user_turns,
      tool_calls AS tool_calls,
      files_created + files_edited AS files,
      git_commits AS commits,
      git_prs_created AS pull_requests
    FROM session_parts
    WHERE $detail = 'sessions'
      AND $has_model = 0
      AND $has_call = 0
      AND org_id = $org_id
      AND day BETWEEN $earliest AND $to
      AND ($user_id IS NULL OR user_id = $user_id)
      AND ($agent IS NULL OR agent = $agent)
      AND ($client IS NULL OR client = $client)
      AND ($repo IS NULL OR repo = $repo)
    UNION ALL
    SELECT
      session_parts.day AS day,
      CASE $group_by WHEN 'user' THEN session_parts.user_id WHEN 'agent' THEN session_parts.agent WHEN 'client' THEN session_parts.client WHEN 'repo' THEN session_parts.repo ELSE chosen_session.found_by END AS group_key,
      session_parts.user_id AS user_id,
      session_parts.sessions AS sessions,
      session_parts.user_messages AS user_turns,
      session_parts.tool_calls AS tool_calls,
      session_parts.files_created + session_parts.files_edited AS files,
      session_parts.git_commits AS commits,
      session_parts.git_prs_created AS pull_requests
    FROM session_parts
    JOIN chosen_session
      ON chosen_session.day = session_parts.day
      AND chosen_session.user_id = session_parts.user_id
      AND chosen_session.session_id = session_parts.session_id
    WHERE $detail = 'sessions'
      AND session_parts.org_id = $org_id
      AND session_parts.day BETWEEN $earliest AND $to
      AND ($user_id IS NULL OR session_parts.user_id = $user_id)
      AND ($agent IS NULL OR session_parts.agent = $agent)
      AND ($client IS NULL OR session_parts.client = $client)
      AND ($repo IS NULL OR session_parts.repo = $repo)
  ) AS part
  GROUP BY
    day,
    group_key,
    user_id
),
user_total AS MATERIALIZED (
  SELECT
    row_day.period_start AS period_start,
    row_day.is_previous AS is_previous,
    user_day.group_key AS group_key,
    user_day.user_id AS user_id,
    sum(user_day.sessions) AS sessions,
    sum(user_day.user_turns) AS user_turns,
    sum(user_day.tool_calls) AS tool_calls,
    sum(user_day.files) AS files,
    sum(user_day.commits) AS commits,
    sum(user_day.pull_requests) AS pull_requests,
    count(*) AS active_days
  FROM user_day
  JOIN row_day
    ON row_day.day = user_day.day
  GROUP BY
    row_day.period_start,
    row_day.is_previous,
    user_day.group_key,
    user_day.user_id
),
-- The days on which anybody was active in the group.
group_day AS (
  SELECT DISTINCT
    row_day.period_start AS period_start,
    row_day.is_previous AS is_previous,
    user_day.group_key AS group_key,
    row_day.day AS day
  FROM user_day
  JOIN row_day
    ON row_day.day = user_day.day
  WHERE $group_by <> 'user'
),
usage AS (
  SELECT
    day,
    CASE $group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent ELSE '' END AS group_key,
    model_id,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    billable_tokens
  FROM user_models
  WHERE $detail <> 'sessions'
    AND org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
    AND ($agent IS NULL OR agent = $agent)
  UNION ALL
  SELECT
    day,
    CASE $group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent WHEN 'client' THEN client WHEN 'repo' THEN repo ELSE CASE $group_by WHEN 'model' THEN model_id ELSE '' END END AS group_key,
    model_id,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    billable_tokens
  FROM session_models
  WHERE $detail = 'sessions'
    AND $has_call = 0
    AND org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id = $user_id)
    AND ($agent IS NULL OR agent = $agent)
    AND ($client IS NULL OR client = $client)
    AND ($repo IS NULL OR repo = $repo)
    AND ($model IS NULL OR model_id = $model)
  UNION ALL
  SELECT
    session_models.day AS day,
    CASE $group_by WHEN 'user' THEN session_models.user_id WHEN 'agent' THEN session_models.agent WHEN 'client' THEN session_models.client WHEN 'repo' THEN session_models.repo ELSE chosen_session.found_by END AS group_key,
    session_models.model_id AS model_id,
    session_models.input_tokens AS input_tokens,
    session_models.output_tokens AS output_tokens,
    session_models.cache_read_tokens AS cache_read_tokens,
    session_models.cache_write_tokens AS cache_write_tokens,
    session_models.cache_write_1h_tokens AS cache_write_1h_tokens,
    session_models.billable_tokens AS billable_tokens
  FROM session_models
  JOIN chosen_session
    ON chosen_session.day = session_models.day
    AND chosen_session.user_id = session_models.user_id
    AND chosen_session.session_id = session_models.session_id
  WHERE $detail = 'sessions'
    AND $has_call = 1
    AND session_models.org_id = $org_id
    AND session_models.day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR session_models.user_id = $user_id)
    AND ($agent IS NULL OR session_models.agent = $agent)
    AND ($client IS NULL OR session_models.client = $client)
    AND ($repo IS NULL OR session_models.repo = $repo)
    AND ($model IS NULL OR session_models.model_id = $model)
    AND ($group_by <> 'model' OR chosen_session.found_by = session_models.model_id)
),
model_total AS MATERIALIZED (
  SELECT
    price_day.period_start AS period_start,
    price_day.is_previous AS is_previous,
    price_day.priced_on AS priced_on,
    usage.group_key AS group_key,
    usage.model_id AS model_id,
    sum(usage.input_tokens) AS input_tokens,
    sum(usage.output_tokens) AS output_tokens,
    sum(usage.cache_read_tokens) AS cache_read_tokens,
    sum(usage.cache_write_tokens) AS cache_write_tokens,
    sum(usage.cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(usage.billable_tokens) AS billable_tokens
  FROM usage
  JOIN price_day
    ON price_day.day = usage.day
  GROUP BY
    price_day.period_start,
    price_day.is_previous,
    price_day.priced_on,
    usage.group_key,
    usage.model_id
),
listed_model AS (
  SELECT
    model_id,
    CASE WHEN model_id IN (SELECT model_id FROM prices) THEN model_id ELSE undated(model_id) END AS listed_id
  FROM (
    SELECT DISTINCT model_id
    FROM model_total
  ) AS model
),
priced_model AS (
  SELECT
    model_total.period_start AS period_start,
    model_total.is_previous AS is_previous,
    model_total.group_key AS group_key,
    model_total.input_tokens AS input_tokens,
    model_total.output_tokens AS output_tokens,
    model_total.cache_read_tokens AS cache_read_tokens,
    model_total.cache_write_tokens AS cache_write_tokens,
    model_total.cache_write_1h_tokens AS cache_write_1h_tokens,
    model_total.billable_tokens AS billable_tokens,
    price_periods.input_price AS input_price,
    price_periods.output_price AS output_price,
    price_periods.cache_read_price AS cache_read_price,
    price_periods.cache_write_price AS cache_write_price,
    price_periods.cache_write_1h_price AS cache_write_1h_price
  FROM model_total
  JOIN listed_model
    ON listed_model.model_id = model_total.model_id
  LEFT JOIN price_periods
    ON price_periods.model_id = listed_model.listed_id
    AND price_periods.valid_from <= model_total.priced_on
    AND price_periods.valid_until > model_total.priced_on
),
tool_call AS (
  SELECT
    session_tools.day AS day,
    CASE $group_by WHEN 'user' THEN session_tools.user_id WHEN 'agent' THEN session_tools.agent WHEN 'client' THEN session_tools.client WHEN 'repo' THEN session_tools.repo ELSE CASE $group_by WHEN 'tool' THEN session_tools.tool_key WHEN 'mcp_server' THEN session_tools.server_key ELSE '' END END AS group_key,
    session_tools.tool_calls AS tool_calls
  FROM session_tools
  WHERE $has_call = 1
    AND $has_model = 0
    AND session_tools.org_id = $org_id
    AND session_tools.day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR session_tools.user_id = $user_id)
    AND ($agent IS NULL OR session_tools.agent = $agent)
    AND ($client IS NULL OR session_tools.client = $client)
    AND ($repo IS NULL OR session_tools.repo = $repo)
    AND ($tool IS NULL OR session_tools.tool_key = $tool)
    AND ($mcp_server IS NULL OR session_tools.server_key = $mcp_server)
    AND ($group_by <> 'mcp_server' OR session_tools.server_key <> '')
  UNION ALL
  SELECT
    session_tools.day AS day,
    CASE $group_by WHEN 'user' THEN session_tools.user_id WHEN 'agent' THEN session_tools.agent WHEN 'client' THEN session_tools.client WHEN 'repo' THEN session_tools.repo ELSE chosen_session.found_by END AS group_key,
    session_tools.tool_calls AS tool_calls
  FROM session_tools
  JOIN chosen_session
    ON chosen_session.day = session_tools.day
    AND chosen_session.user_id = session_tools.user_id
    AND chosen_session.session_id = session_tools.session_id
  WHERE $has_call = 1
    AND $has_model = 1
    AND session_tools.org_id = $org_id
    AND session_tools.day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR session_tools.user_id = $user_id)
    AND ($agent IS NULL OR session_tools.agent = $agent)
    AND ($client IS NULL OR session_tools.client = $client)
    AND ($repo IS NULL OR session_tools.repo = $repo)
    AND ($tool IS NULL OR session_tools.tool_key = $tool)
    AND ($mcp_server IS NULL OR session_tools.server_key = $mcp_server)
    AND ($group_by <> 'tool' OR chosen_session.found_by = session_tools.tool_key)
    AND ($group_by <> 'mcp_server' OR chosen_session.found_by = session_tools.server_key)
),
-- The members of a group, those of one table at a time.
member AS (
  SELECT
    period_start,
    is_previous,
    group_key,
    1 AS is_active,
    CAST(0 AS DECIMAL(38, 12)) AS cost_usd,
    0 AS unpriced_tokens,
    0 AS input_tokens,
    0 AS output_tokens,
    0 AS cache_read_tokens,
    0 AS cache_write_tokens,
    0 AS billable_tokens,
    sum(sessions) AS sessions,
    sum(user_turns) AS user_turns,
    CASE WHEN $has_call = 1 THEN 0 ELSE sum(tool_calls) END AS tool_calls,
    sum(files) AS files,
    sum(commits) AS commits,
    sum(pull_requests) AS pull_requests,
    count(*) AS active_users,
    CASE WHEN $group_by = 'user' THEN max(active_days) ELSE 0 END AS active_days
  FROM user_total
  GROUP BY
    period_start,
    is_previous,
    group_key
  UNION ALL
  SELECT
    period_start,
    is_previous,
    group_key,
    0 AS is_active,
    CAST(0 AS DECIMAL(38, 12)) AS cost_usd,
    0 AS unpriced_tokens,
    0 AS input_tokens,
    0 AS output_tokens,
    0 AS cache_read_tokens,
    0 AS cache_write_tokens,
    0 AS billable_tokens,
    0 AS sessions,
    0 AS user_turns,
    0 AS tool_calls,
    0 AS files,
    0 AS commits,
    0 AS pull_requests,
    0 AS active_users,
    count(*) AS active_days
  FROM group_day
  GROUP BY
    period_start,
    is_previous,
    group_key
  UNION ALL
  SELECT
    period_start,
    is_previous,
    group_key,
    0 AS is_active,
    known_usd(input_price, input_tokens)
      + known_usd(output_price, output_tokens)
      + known_usd(cache_read_price, cache_read_tokens)
      + known_usd(cache_write_price, cache_write_tokens - cache_write_1h_tokens)
      + known_usd(cache_write_1h_price, cache_write_1h_tokens) AS cost_usd,
    CASE WHEN input_price IS NULL THEN input_tokens ELSE 0 END
      + CASE WHEN output_price IS NULL THEN output_tokens ELSE 0 END
      + CASE WHEN cache_read_price IS NULL THEN cache_read_tokens ELSE 0 END
      + CASE WHEN cache_write_price IS NULL THEN cache_write_tokens - cache_write_1h_tokens ELSE 0 END
      + CASE WHEN cache_write_1h_price IS NULL THEN cache_write_1h_tokens ELSE 0 END AS unpriced_tokens,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    billable_tokens,
    0 AS sessions,
    0 AS user_turns,
    0 AS tool_calls,
    0 AS files,
    0 AS commits,
    0 AS pull_requests,
    0 AS active_users,
    0 AS active_days
  FROM priced_model
  UNION ALL
  SELECT
    row_day.period_start AS period_start,
    row_day.is_previous AS is_previous,
    tool_call.group_key AS group_key,
    0 AS is_active,
    CAST(0 AS DECIMAL(38, 12)) AS cost_usd,
    0 AS unpriced_tokens,
    0 AS input_tokens,
    0 AS output_tokens,
    0 AS cache_read_tokens,
    0 AS cache_write_tokens,
    0 AS billable_tokens,
    0 AS sessions,
    0 AS user_turns,
    tool_call.tool_calls AS tool_calls,
    0 AS files,
    0 AS commits,
    0 AS pull_requests,
    0 AS active_users,
    0 AS active_days
  FROM tool_call
  JOIN row_day
    ON row_day.day = tool_call.day
  UNION ALL
  -- Without groups each row is there, also without events.
  SELECT
    period_start,
    is_previous,
    '' AS group_key,
    CASE WHEN $group_by = 'none' THEN 1 ELSE 0 END AS is_active,
    CAST(0 AS DECIMAL(38, 12)) AS cost_usd,
    0 AS unpriced_tokens,
    0 AS input_tokens,
    0 AS output_tokens,
    0 AS cache_read_tokens,
    0 AS cache_write_tokens,
    0 AS billable_tokens,
    0 AS sessions,
    0 AS user_turns,
    0 AS tool_calls,
    0 AS files,
    0 AS commits,
    0 AS pull_requests,
    0 AS active_users,
    0 AS active_days
  FROM row_day
),
total AS (
  SELECT
    period_start,
    group_key,
    sum(CASE WHEN is_previous = 0 THEN cost_usd ELSE CAST(0 AS DECIMAL(38, 12)) END) AS cost_usd,
    sum(CASE WHEN is_previous = 0 THEN unpriced_tokens ELSE 0 END) AS unpriced_tokens,
    sum(CASE WHEN is_previous = 0 THEN input_tokens ELSE 0 END) AS input_tokens,
    sum(CASE WHEN is_previous = 0 THEN output_tokens ELSE 0 END) AS output_tokens,
    sum(CASE WHEN is_previous = 0 THEN cache_read_tokens ELSE 0 END) AS cache_read_tokens,
    sum(CASE WHEN is_previous = 0 THEN cache_write_tokens ELSE 0 END) AS cache_write_tokens,
    sum(CASE WHEN is_previous = 0 THEN billable_tokens ELSE 0 END) AS billable_tokens,
    sum(CASE WHEN is_previous = 0 THEN sessions ELSE 0 END) AS sessions,
    sum(CASE WHEN is_previous = 0 THEN user_turns ELSE 0 END) AS user_turns,
    sum(CASE WHEN is_previous = 0 THEN tool_calls ELSE 0 END) AS tool_calls,
    sum(CASE WHEN is_previous = 0 THEN files ELSE 0 END) AS files,
    sum(CASE WHEN is_previous = 0 THEN commits ELSE 0 END) AS commits,
    sum(CASE WHEN is_previous = 0 THEN pull_requests ELSE 0 END) AS pull_requests,
    sum(CASE WHEN is_previous = 0 THEN active_users ELSE 0 END) AS active_users,
    sum(CASE WHEN is_previous = 0 THEN active_days ELSE 0 END) AS active_days,
    sum(CASE WHEN is_previous = 1 THEN cost_usd ELSE CAST(0 AS DECIMAL(38, 12)) END) AS previous_cost_usd,
    sum(CASE WHEN is_previous = 1 THEN unpriced_tokens ELSE 0 END) AS previous_unpriced_tokens,
    sum(CASE WHEN is_previous = 1 THEN input_tokens ELSE 0 END) AS previous_input_tokens,
    sum(CASE WHEN is_previous = 1 THEN output_tokens ELSE 0 END) AS previous_output_tokens,
    sum(CASE WHEN is_previous = 1 THEN cache_read_tokens ELSE 0 END) AS previous_cache_read_tokens,
    sum(CASE WHEN is_previous = 1 THEN cache_write_tokens ELSE 0 END) AS previous_cache_write_tokens,
    sum(CASE WHEN is_previous = 1 THEN billable_tokens ELSE 0 END) AS previous_billable_tokens,
    sum(CASE WHEN is_previous = 1 THEN sessions ELSE 0 END) AS previous_sessions,
    sum(CASE WHEN is_previous = 1 THEN user_turns ELSE 0 END) AS previous_user_turns,
    sum(CASE WHEN is_previous = 1 THEN tool_calls ELSE 0 END) AS previous_tool_calls,
    sum(CASE WHEN is_previous = 1 THEN files ELSE 0 END) AS previous_files,
    sum(CASE WHEN is_previous = 1 THEN commits ELSE 0 END) AS previous_commits,
    sum(CASE WHEN is_previous = 1 THEN pull_requests ELSE 0 END) AS previous_pull_requests,
    sum(CASE WHEN is_previous = 1 THEN active_users ELSE 0 END) AS previous_active_users,
    sum(CASE WHEN is_previous = 1 THEN active_days ELSE 0 END) AS previous_active_days
  FROM member
  GROUP BY
    period_start,
    group_key
  HAVING max(CASE WHEN is_previous = 0 THEN is_active ELSE 0 END) = 1
),
compared AS (
  SELECT
    total.*,
    coalesce(previous.days, 0) AS previous_days,
    ratio(tool_calls, user_turns) AS autonomy_ratio,
    ratio(previous_tool_calls, previous_user_turns) AS previous_autonomy_ratio,
    -- Unknown is null: no sum of nothing but unknown costs.
    CASE
      WHEN unpriced_tokens = 0 THEN cost_usd
      WHEN unpriced_tokens < input_tokens + output_tokens + cache_read_tokens + cache_write_tokens THEN cost_usd
    END AS known_cost_usd,
    CASE
      WHEN previous_unpriced_tokens = 0 THEN previous_cost_usd
      WHEN previous_unpriced_tokens
        < previous_input_tokens + previous_output_tokens + previous_cache_read_tokens + previous_cache_write_tokens
        THEN previous_cost_usd
    END AS previous_known_cost_usd
  FROM total
  LEFT JOIN (
    SELECT
      period_start,
      count(*) AS days
    FROM row_day
    WHERE is_previous = 1
    GROUP BY period_start
  ) AS previous USING (period_start)
),
-- Rows come by sorted_day, sorted_by, period_start and group_key, all ascending.
sorted AS (
  SELECT
    *,
    CASE WHEN $is_by_date = 1 THEN period_start ELSE DATE '1970-01-01' END AS sorted_day,
    CASE WHEN $direction = 'asc' THEN sort_value ELSE -sort_value END AS sorted_by
  FROM (
    SELECT
      *,
      CASE $sort
        WHEN 'cost_usd' THEN CAST(coalesce(known_cost_usd, -1) AS DECIMAL(38, 12))
        WHEN 'unpriced_tokens' THEN CAST(unpriced_tokens AS DECIMAL(38, 12))
        WHEN 'input_tokens' THEN CAST(input_tokens AS DECIMAL(38, 12))
        WHEN 'output_tokens' THEN CAST(output_tokens AS DECIMAL(38, 12))
        WHEN 'cache_read_tokens' THEN CAST(cache_read_tokens AS DECIMAL(38, 12))
        WHEN 'cache_write_tokens' THEN CAST(cache_write_tokens AS DECIMAL(38, 12))
        WHEN 'billable_tokens' THEN CAST(billable_tokens AS DECIMAL(38, 12))
        WHEN 'sessions' THEN CAST(sessions AS DECIMAL(38, 12))
        WHEN 'user_turns' THEN CAST(user_turns AS DECIMAL(38, 12))
        WHEN 'tool_calls' THEN CAST(tool_calls AS DECIMAL(38, 12))
        WHEN 'autonomy_ratio' THEN CAST(autonomy_ratio AS DECIMAL(38, 12))
        WHEN 'files' THEN CAST(files AS DECIMAL(38, 12))
        WHEN 'commits' THEN CAST(commits AS DECIMAL(38, 12))
        WHEN 'pull_requests' THEN CAST(pull_requests AS DECIMAL(38, 12))
        WHEN 'active_users' THEN CAST(active_users AS DECIMAL(38, 12))
        WHEN 'active_days' THEN CAST(active_days AS DECIMAL(38, 12))
      END AS sort_value
    FROM compared
  ) AS valued
),
page AS (
  SELECT *
  FROM sorted
  WHERE $after_day IS NULL
    OR sorted_day > $after_day
    OR sorted_day = $after_day
    AND (
      sorted_by > CAST($after_value AS DECIMAL(38, 12))
      OR sorted_by = CAST($after_value AS DECIMAL(38, 12))
      AND (period_start > $after_period OR period_start = $after_period AND group_key > $after_key)
    )
  ORDER BY
    sorted_day,
    sorted_by,
    period_start,
    group_key
  LIMIT $limit + 1
),
placed AS (
  SELECT
    *,
    row_number() OVER (ORDER BY sorted_day, sorted_by, period_start, group_key) AS place,
    count(*) OVER () AS page_rows
  FROM page
)
SELECT
  CAST(place AS BIGINT) AS place,
  CAST(CASE WHEN $period <> 'none' THEN period_start END AS DATE) AS day,
  CAST(CASE WHEN $group_by <> 'none' THEN group_key END AS VARCHAR) AS group_key,
  CAST(known_cost_usd AS DECIMAL(38, 12)) AS cost_usd,
  CAST(unpriced_tokens AS BIGINT) AS unpriced_tokens,
  CAST(input_tokens AS BIGINT) AS input_tokens,
  CAST(output_tokens AS BIGINT) AS output_tokens,
  CAST(cache_read_tokens AS BIGINT) AS cache_read_tokens,
  CAST(cache_write_tokens AS BIGINT) AS cache_write_tokens,
  CAST(billable_tokens AS BIGINT) AS billable_tokens,
  CAST(sessions AS BIGINT) AS sessions,
  CAST(user_turns AS BIGINT) AS user_turns,
  CAST(tool_calls AS BIGINT) AS tool_calls,
  CAST(autonomy_ratio AS DOUBLE) AS autonomy_ratio,
  CAST(files AS BIGINT) AS files,
  CAST(commits AS BIGINT) AS commits,
  CAST(pull_requests AS BIGINT) AS pull_requests,
  CAST(active_users AS BIGINT) AS active_users,
  CAST(active_days AS BIGINT) AS active_days,
  CAST(previous_known_cost_usd AS DECIMAL(38, 12)) AS previous_cost_usd,
  CAST(previous_unpriced_tokens AS BIGINT) AS previous_unpriced_tokens,
  CAST(previous_input_tokens AS BIGINT) AS previous_input_tokens,
  CAST(previous_output_tokens AS BIGINT) AS previous_output_tokens,
  CAST(previous_cache_read_tokens AS BIGINT) AS previous_cache_read_tokens,
  CAST(previous_cache_write_tokens AS BIGINT) AS previous_cache_write_tokens,
  CAST(previous_billable_tokens AS BIGINT) AS previous_billable_tokens,
  CAST(previous_sessions AS BIGINT) AS previous_sessions,
  CAST(previous_user_turns AS BIGINT) AS previous_user_turns,
  CAST(previous_tool_calls AS BIGINT) AS previous_tool_calls,
  CAST(previous_autonomy_ratio AS DOUBLE) AS previous_autonomy_ratio,
  CAST(previous_files AS BIGINT) AS previous_files,
  CAST(previous_commits AS BIGINT) AS previous_commits,
  CAST(previous_pull_requests AS BIGINT) AS previous_pull_requests,
  CAST(previous_active_users AS BIGINT) AS previous_active_users,
  CAST(previous_active_days AS BIGINT) AS previous_active_days,
  CAST(previous_days AS BIGINT) AS previous_days,
  -- What the next page begins behind; null on the last one.
  CAST(
    CASE
      WHEN page_rows > $limit
        THEN concat(
          CAST(sorted_day AS VARCHAR), ' ', CAST(sorted_by AS VARCHAR), ' ', CAST(period_start AS VARCHAR), ' ', group_key
        )
    END AS VARCHAR
  ) AS next_cursor
FROM placed
WHERE place <= $limit
