-- Functions for the SQL of all sources. DuckDB only: it reads lines for both stores.
-- The comments under a function are claims, which test/source-functions.test.ts checks.

-- An RFC 3339 timestamp with Z or an offset, in Unix milliseconds; NULL if it isn't one.
-- Digits beyond milliseconds are truncated, not rounded: 23:59:59.9999 is still that day.
CREATE OR REPLACE MACRO rfc3339_ms(text) AS
  CASE
    -- Nearly all have this form, which is twice as fast to read.
    WHEN regexp_full_match(text, '\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z')
      THEN epoch_ms(try_cast(text AS TIMESTAMP))
    WHEN regexp_full_match(text, '\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)')
      THEN epoch_ms(CAST(try_cast(regexp_replace(upper(text), '(\.\d{3})\d+', '\1') AS TIMESTAMPTZ) AS TIMESTAMP))
  END;
-- rfc3339_ms('2026-06-15T10:00:00.250Z') -> 1781517600250;
-- rfc3339_ms('2026-06-15t23:59:59.9999+02:00') -> 1781560799999;
-- rfc3339_ms('2026-06-31T10:00:00Z') -> NULL;
-- rfc3339_ms('2026-06-15') -> NULL;

-- Whether a text has more characters than a limit. Bytes are counted first, because counting characters is expensive.
CREATE OR REPLACE MACRO is_longer(text, characters) AS strlen(text) > characters AND length(text) > characters;
-- is_longer('äöü', 3) -> false;
-- is_longer('äöüß', 3) -> true;

-- Whether a number is an integer. JSON doesn't distinguish 5 from 5.0.
CREATE OR REPLACE MACRO is_integer(number) AS isfinite(number) AND number = floor(number);
-- is_integer(CAST(5.0 AS DOUBLE)) -> true;
-- is_integer(CAST(5.5 AS DOUBLE)) -> false;
-- is_integer(CAST('inf' AS DOUBLE)) -> false;

-- A number as an integer. A number beyond all limits stays beyond them.
CREATE OR REPLACE MACRO clamped(number) AS
  coalesce(try_cast(number AS BIGINT), CASE WHEN number < 0 THEN -1000000000000000 WHEN number > 0 THEN 1000000000000000 END);
-- clamped(CAST(5 AS DOUBLE)) -> 5;
-- clamped(1e300) -> 1000000000000000;
-- clamped(CAST(NULL AS DOUBLE)) -> NULL;

-- A number if an event can have it as a count, otherwise NULL.
CREATE OR REPLACE MACRO count_of(number) AS CASE WHEN is_integer(number) AND number BETWEEN 0 AND 100000000000 THEN CAST(number AS BIGINT) END;
-- count_of(CAST(250 AS DOUBLE)) -> 250;
-- count_of(CAST(-1 AS DOUBLE)) -> NULL;
-- count_of(CAST(1.5 AS DOUBLE)) -> NULL;

-- A text if an event can have it as a name, otherwise NULL.
CREATE OR REPLACE MACRO name_of(text) AS CASE WHEN text <> '' AND NOT is_longer(text, 2048) THEN text END;
-- name_of('main') -> 'main';
-- name_of('') -> NULL;
-- name_of(repeat('x', 2049)) -> NULL;

-- An id that ends in a text, or in its MD5 if the id would be too long.
CREATE OR REPLACE MACRO id_with(id, text) AS
  id || ':' || CASE WHEN length(id) + length(text) < 200 THEN text ELSE md5(text) END;
-- id_with('file:toolu_1', 'src/app.ts') -> 'file:toolu_1:src/app.ts';
-- length(id_with('file:toolu_1', repeat('x', 187))) -> 200;
-- length(id_with('file:toolu_1', repeat('x', 188))) -> 45;

-- The commands in a shell line. Quoted and escaped text is replaced, so that it can't look like a command.
CREATE OR REPLACE MACRO shell_commands(line) AS
  regexp_split_to_array(
    regexp_replace(
      regexp_replace(line, '\\\r?\n', ' ', 'g'),
      '(?s)\\.|''[^'']*''|"(?:[^"\\]|\\.)*"',
      'x',
      'g'
    ),
    '[;&|()`\n]+'
  );
-- shell_commands('cd "a;b" && git commit') -> ['cd x ', ' git commit'];
-- shell_commands('') -> [''];

-- Whether a shell line commits: `git commit`, with options of git in between, where a command begins.
CREATE OR REPLACE MACRO is_commit_command(line) AS
  len(list_filter(shell_commands(line), lambda command:
    regexp_matches(
      command,
      '^\s*((then|do|else|if|while|until|time|!|\{|\w+=\S*)\s+)*git(\s+(-[cC]|--(git-dir|work-tree|namespace))\s+\S+|\s+--?[\w-]+(=\S+)?)*\s+commit($|[\s<>])'
    )
    AND NOT regexp_matches(command, '\s--dry-run($|\s)')
  )) > 0;
-- is_commit_command('git commit -m "fix it"') -> true;
-- is_commit_command('git commit&&git push') -> true;
-- is_commit_command('git commit --dry-run && git commit -m x') -> true;
-- is_commit_command('git commit --dry-run') -> false;
-- is_commit_command('git commit -m "say what --dry-run does"') -> true;
-- is_commit_command('cd "my folder" && git -C "/srv/my app" -c user.name=ada commit --amend') -> true;
-- is_commit_command('GIT_AUTHOR_NAME="Ada L" git commit; ls') -> true;
-- is_commit_command('git commit -m "$(cat <<''EOF''' || chr(10) || 'It said "no"' || chr(10) || 'EOF' || chr(10) || ')" && git push') -> true;
-- is_commit_command('if git commit -q; then echo done; fi') -> true;
-- is_commit_command('git \' || chr(10) || '  commit') -> true;
-- is_commit_command('git commit>log 2>&1') -> true;
-- is_commit_command('echo it\''s && git commit -m ''x''') -> true;
-- is_commit_command('echo "git commit"') -> false;
-- is_commit_command('git commit-tree HEAD') -> false;
-- is_commit_command('git log --grep commit') -> false;
-- is_commit_command('git push # git commit') -> false;
-- coalesce(is_commit_command(NULL), false) -> false;

-- Whether a shell line opens a pull request or merge request.
CREATE OR REPLACE MACRO is_pull_request_command(line) AS
  len(list_filter(shell_commands(line), lambda command:
    regexp_matches(
      command,
      '^\s*((then|do|else|if|while|until|time|!|\{|\w+=\S*)\s+)*(gh\s+pr|glab\s+mr)\s+create($|[\s<>])'
    )
  )) > 0;
-- is_pull_request_command('gh pr create --fill') -> true;
-- is_pull_request_command('git push && gh pr create|cat') -> true;
-- is_pull_request_command('glab mr create') -> true;
-- is_pull_request_command('gh pr view') -> false;
-- is_pull_request_command('echo "gh pr create"') -> false;

-- Whether a tool of an MCP server opens a pull request.
CREATE OR REPLACE MACRO is_pull_request_tool(name) AS coalesce(regexp_matches(name, '(^|[._])create_pull_request$'), false);
-- is_pull_request_tool('create_pull_request') -> true;
-- is_pull_request_tool('github.create_pull_request') -> true;
-- is_pull_request_tool('create_pull_request_review') -> false;
-- is_pull_request_tool(NULL) -> false;

-- The hash of the commit that git printed.
CREATE OR REPLACE MACRO printed_commit(output) AS nullif(regexp_extract(output, '(?m)^\[[^\]\n]+ ([0-9a-f]{7,40})\]', 1), '');
-- printed_commit('[main 4b825dc] Fix it' || chr(10) || ' 1 file changed') -> '4b825dc';
-- printed_commit('see [main 4b825dc]') -> NULL;

-- Whether git printed that there was nothing to commit.
CREATE OR REPLACE MACRO is_nothing_committed(output) AS
  coalesce(regexp_matches(output, 'nothing to commit|no changes added to commit'), false);
-- is_nothing_committed('nothing to commit, working tree clean') -> true;
-- is_nothing_committed('[main 4b825dc] Fix it') -> false;
-- is_nothing_committed(NULL) -> false;

-- The exit code that a shell tool printed below the output of its command; NULL if it printed none.
CREATE OR REPLACE MACRO printed_exit_code(output) AS
  try_cast(regexp_extract(
    output,
    '(?:^|\n|\\n)Exit Code: (-?\d+)(?:(?:\n|\\n)(?:Signal|Background PIDs|Process Group PGID): [^\n]*)*\s*(?:</untrusted_context>)?\s*$',
    1
  ) AS BIGINT);
-- printed_exit_code('Output: 1' || chr(10) || 'Exit Code: 3' || chr(10) || 'Process Group PGID: 1447') -> 3;
-- printed_exit_code('<untrusted_context>' || chr(10) || 'Output: 1' || chr(10) || 'Exit Code: 3' || chr(10) || '</untrusted_context>') -> 3;
-- printed_exit_code('Error: (none)' || chr(10) || 'Exit Code: 0' || chr(10) || 'Signal: (none)') -> 0;
-- printed_exit_code('Output: Exit Code: 3' || chr(10) || 'Process Group PGID: 1447') -> NULL;
-- printed_exit_code('Output: log' || chr(10) || 'Exit Code: 3' || chr(10) || 'done') -> NULL;

-- The output of a command without the label that a shell tool prints before it.
CREATE OR REPLACE MACRO command_output(output) AS regexp_replace(output, '(?m)^Output: ', '');
-- command_output('Command: git commit' || chr(10) || 'Output: [main 4b825dc] Fix it') -> 'Command: git commit' || chr(10) || '[main 4b825dc] Fix it';
-- command_output('[main 4b825dc] Fix it') -> '[main 4b825dc] Fix it';

-- The address of the pull request or merge request that was printed.
CREATE OR REPLACE MACRO printed_pull_request(output) AS
  nullif(regexp_extract(output, 'https?://\S{1,300}/(?:pull|merge_requests)/\d+'), '');
-- printed_pull_request('Creating it' || chr(10) || 'https://github.com/acme/engine/pull/7') -> 'https://github.com/acme/engine/pull/7';
-- printed_pull_request('https://gitlab.com/acme/engine/-/merge_requests/8') -> 'https://gitlab.com/acme/engine/-/merge_requests/8';
-- printed_pull_request('https://github.com/acme/engine') -> NULL;

-- Whether a tool runs shell commands.
CREATE OR REPLACE MACRO is_shell_tool(name) AS
  lower(name) IN ('bash', 'powershell', 'execute', 'shell', 'run_shell_command', 'run_commands');
-- is_shell_tool('Bash') -> true;
-- is_shell_tool('Read') -> false;

-- Whether a tool succeeded. Where there is an exit code it decides, because agents call a command that fails a success.
CREATE OR REPLACE MACRO tool_success(as_agent_says, exit_code) AS coalesce(exit_code = 0, as_agent_says);
-- tool_success(true, 3) -> false;
-- tool_success(true, NULL) -> true;
-- tool_success(NULL, 0) -> true;

-- The files that a patch of the form "*** Begin Patch" adds or changes.
CREATE OR REPLACE MACRO patched_files(patch) AS
  list_transform(
    regexp_extract_all(patch, '(?m)^\*\*\* (?:Add|Update) File: [^\r\n]+'),
    lambda heading: {
      'path': trim(regexp_extract(heading, 'File: (.+)$', 1)),
      'operation': CASE WHEN prefix(heading, '*** Add') THEN 'create' ELSE 'edit' END
    }
  );
-- patched_files('*** Begin Patch' || chr(10) || '*** Add File: a b.ts' || chr(10) || '+x' || chr(10) || '*** Update File: c.ts ' || chr(10)) -> [{'path': 'a b.ts', 'operation': 'create'}, {'path': 'c.ts', 'operation': 'edit'}];
-- len(patched_files('*** Delete File: a.ts')) -> 0;

-- The files that a tool changed. Only a patch can have several. `input` is the tool's input; `kind` and `path` are from its
-- result, or NULL.
CREATE OR REPLACE MACRO changed_files(name, input, kind, path) AS
  CASE
    WHEN name = 'ApplyPatch'
      THEN patched_files(coalesce((input).patch, (input).input, (input).command))
    WHEN name IN ('Write', 'Create', 'Edit', 'MultiEdit', 'NotebookEdit')
      THEN [{
        'path': coalesce(path, (input).file_path, (input).notebook_path, (input).path),
        'operation': CASE
          WHEN kind = 'create' THEN 'create'
          WHEN kind = 'update' THEN 'edit'
          WHEN name IN ('Write', 'Create') THEN 'create'
          ELSE 'edit'
        END
      }]
  END;
-- changed_files('Edit', {'file_path': '/a', 'notebook_path': NULL, 'path': NULL, 'patch': NULL, 'input': NULL, 'command': NULL}, NULL, NULL) -> [{'path': '/a', 'operation': 'edit'}];
-- changed_files('Write', {'file_path': '/a', 'notebook_path': NULL, 'path': NULL, 'patch': NULL, 'input': NULL, 'command': NULL}, NULL, '/b') -> [{'path': '/b', 'operation': 'create'}];
-- changed_files('Write', {'file_path': '/a', 'notebook_path': NULL, 'path': NULL, 'patch': NULL, 'input': NULL, 'command': NULL}, 'update', NULL) -> [{'path': '/a', 'operation': 'edit'}];
-- changed_files('ApplyPatch', {'file_path': NULL, 'notebook_path': NULL, 'path': NULL, 'patch': '*** Begin Patch' || chr(10) || '*** Add File: a b.ts' || chr(10) || '+x' || chr(10) || '*** Update File: c.ts ' || chr(10), 'input': NULL, 'command': NULL}, NULL, NULL) -> [{'path': 'a b.ts', 'operation': 'create'}, {'path': 'c.ts', 'operation': 'edit'}];
-- changed_files('Read', {'file_path': '/a', 'notebook_path': NULL, 'path': NULL, 'patch': NULL, 'input': NULL, 'command': NULL}, NULL, NULL) -> NULL;

-- How many lines a change added: of a new file all but empty lines at its end, otherwise those that the patch adds.
CREATE OR REPLACE MACRO added_lines(kind, content, patch) AS
  CASE
    WHEN kind = 'create' THEN len(string_split(rtrim(content, chr(10)), chr(10)))
    WHEN len(patch) > 0 THEN len(list_filter(flatten(list_transform(patch, lambda hunk: (hunk).lines)), lambda line: prefix(line, '+')))
  END;
-- added_lines('create', 'a' || chr(10) || chr(10) || 'b' || chr(10), [{'lines': ['']}]) -> 3;
-- added_lines('create', NULL, [{'lines': ['']}]) -> NULL;
-- added_lines('update', NULL, [{'lines': [' a', '+b', '-c']}, {'lines': ['+d']}]) -> 2;

-- How many lines a change removed.
CREATE OR REPLACE MACRO removed_lines(kind, patch) AS
  CASE
    WHEN kind = 'create' THEN 0
    WHEN len(patch) > 0 THEN len(list_filter(flatten(list_transform(patch, lambda hunk: (hunk).lines)), lambda line: prefix(line, '-')))
  END;
-- removed_lines('create', [{'lines': ['']}]) -> 0;
-- removed_lines('update', [{'lines': [' a', '+b', '-c']}, {'lines': ['+d']}]) -> 1;

-- The autonomy mode that an agent's permission mode means; NULL if it is unknown.
CREATE OR REPLACE MACRO autonomy_mode_of(permission_mode) AS
  CASE
    WHEN permission_mode IN ('off', 'default', 'manual', 'normal') THEN 'manual'
    WHEN permission_mode IN ('plan', 'spec') THEN 'spec'
    WHEN permission_mode IN ('acceptEdits', 'auto-edit', 'autoEdit', 'auto_edit', 'low', 'auto-low') THEN 'auto-low'
    WHEN permission_mode IN ('auto', 'medium', 'auto-medium', 'assisted') THEN 'auto-medium'
    WHEN permission_mode IN ('bypassPermissions', 'dontAsk', 'yolo', 'high', 'auto-high', 'allow-all') THEN 'auto-high'
  END;
-- autonomy_mode_of('acceptEdits') -> 'auto-low';
-- autonomy_mode_of('dontAsk') -> 'auto-high';
-- autonomy_mode_of('yolo') -> 'auto-high';
-- autonomy_mode_of('auto_edit') -> 'auto-low';
-- autonomy_mode_of('reckless') -> NULL;

-- The text that is valid at an instant, such as a mode. `since` are instants in order, and each of `texts` is valid from its instant on.
-- NULL before the first one.
CREATE OR REPLACE MACRO valid_at(since, texts, instant) AS
  texts[len(list_filter(since, lambda start: start <= instant))];
-- valid_at([10, 20], ['manual', 'spec'], 9) -> NULL;
-- valid_at([10, 20], ['manual', 'spec'], 10) -> 'manual';
-- valid_at([10, 20], ['manual', 'spec'], 25) -> 'spec';
-- valid_at([10, 20], ['manual', 'spec'], NULL) -> NULL;
-- valid_at(NULL, NULL, 10) -> NULL;

-- The text of a message in the form of Gemini's API: a text, or a list of parts, of which some have text.
CREATE OR REPLACE MACRO text_of_parts(content) AS
  CASE json_type(content)
    WHEN 'VARCHAR' THEN json_extract_string(content, '$')
    WHEN 'ARRAY'
      THEN coalesce(array_to_string(list_transform(from_json(content, '[{"text": "VARCHAR"}]'), lambda part: (part).text), ''), '')
  END;
-- text_of_parts('"hello"') -> 'hello';
-- text_of_parts('[{"text": "hello "}, {"functionResponse": {}}, {"text": "you"}]') -> 'hello you';
-- text_of_parts('[{"inlineData": {}}]') -> '';
-- text_of_parts(NULL) -> NULL;

-- Whether a message in the form of Gemini's API has more than results of tools.
CREATE OR REPLACE MACRO has_own_part(content) AS
  CASE json_type(content)
    WHEN 'VARCHAR' THEN content <> '""'
    WHEN 'ARRAY'
      THEN len(list_filter(from_json(content, '[{"functionResponse": "JSON"}]'), lambda part: (part).functionResponse IS NULL)) > 0
    ELSE false
  END;
-- has_own_part('"hello"') -> true;
-- has_own_part('""') -> false;
-- has_own_part('[{"text": "hello"}]') -> true;
-- has_own_part('[{"functionResponse": {"name": "read_file"}}]') -> false;
-- has_own_part('[]') -> false;
-- has_own_part(NULL) -> false;

-- The name of the slash command that a text begins with; NULL if there is none. A path is no command.
CREATE OR REPLACE MACRO slash_command_of(text) AS
  nullif(regexp_extract(text, '^\s*/([A-Za-z][\w:.-]*)(\s|$)', 1), '');
-- slash_command_of('/tiny now') -> 'tiny';
-- slash_command_of('/git:commit') -> 'git:commit';
-- slash_command_of('/home/ada is full') -> NULL;
-- slash_command_of('see /init') -> NULL;

-- The client that the way an agent was started means.
CREATE OR REPLACE MACRO client_of(entrypoint) AS
  CASE
    WHEN lower(entrypoint) = 'cli' THEN 'terminal-ui'
    WHEN regexp_matches(lower(entrypoint), '^sdk(-|$)|headless|^print$') THEN 'non-interactive-cli'
    WHEN regexp_full_match(lower(entrypoint), '[a-z][a-z0-9-]{0,31}') THEN lower(entrypoint)
  END;
-- client_of('cli') -> 'terminal-ui';
-- client_of('sdk-py') -> 'non-interactive-cli';
-- client_of('Claude-Desktop') -> 'claude-desktop';
-- client_of('an app') -> NULL;

-- A free name as the name of a client.
CREATE OR REPLACE MACRO client_named(name) AS
  nullif(regexp_extract(regexp_replace(lower(name), '[^a-z0-9]+', '-', 'g'), '^-?([a-z]([a-z0-9-]{0,30}[a-z0-9])?)', 1), '');
-- client_named('Codex Desktop') -> 'codex-desktop';
-- client_named('codex_vscode') -> 'codex-vscode';
-- client_named('An editor with a name that is too long for it') -> 'an-editor-with-a-name-that-is-to';
-- client_named('!') -> NULL;

-- The client that the originator of a Codex thread means; `source` is what started the thread.
CREATE OR REPLACE MACRO codex_client_of(originator, source) AS
  CASE
    WHEN source = 'mcp' THEN 'mcp'
    WHEN originator IN ('codex-tui', 'codex_cli_rs') THEN 'terminal-ui'
    WHEN originator = 'codex_exec' THEN 'non-interactive-cli'
    ELSE client_named(originator)
  END;
-- codex_client_of('codex-tui', 'cli') -> 'terminal-ui';
-- codex_client_of('codex_exec', NULL) -> 'non-interactive-cli';
-- codex_client_of('codex_cli_rs', 'mcp') -> 'mcp';
-- codex_client_of('Codex Desktop', 'vscode') -> 'codex-desktop';
-- codex_client_of(NULL, NULL) -> NULL;

-- The autonomy mode that the settings of a Codex turn mean: its collaboration mode, approval policy, sandbox, and the type of its
-- permission profile.
CREATE OR REPLACE MACRO codex_autonomy_mode(collaboration, approval, sandbox, profile) AS
  CASE
    WHEN collaboration = 'plan' THEN 'spec'
    WHEN approval = 'untrusted' THEN 'manual'
    WHEN sandbox = 'danger-full-access' OR profile = 'disabled' THEN 'auto-high'
    WHEN sandbox = 'workspace-write' THEN 'auto-medium'
    WHEN sandbox = 'read-only' THEN 'manual'
  END;
-- codex_autonomy_mode('plan', 'never', 'danger-full-access', NULL) -> 'spec';
-- codex_autonomy_mode('default', 'untrusted', 'workspace-write', NULL) -> 'manual';
-- codex_autonomy_mode('default', 'on-request', 'workspace-write', 'managed') -> 'auto-medium';
-- codex_autonomy_mode(NULL, 'never', NULL, 'disabled') -> 'auto-high';
-- codex_autonomy_mode(NULL, 'never', 'read-only', NULL) -> 'manual';
-- codex_autonomy_mode(NULL, 'never', NULL, 'managed') -> NULL;

-- Whether a tool of Codex succeeded, by the output that it gave the model; NULL if that doesn't say it. Codex writes the exit code
-- above the output of a command, or behind it in JSON.
CREATE OR REPLACE MACRO codex_success(output) AS
  CASE
    WHEN prefix(output, '{"output":')
      THEN nullif(regexp_extract(right(output, 200), '"metadata":\s*\{"exit_code":\s*(-?\d+)', 1), '') = '0'
    WHEN prefix(output, 'Script completed') THEN true
    WHEN prefix(output, 'Script failed') THEN false
    WHEN regexp_matches(split_part(output, chr(10) || 'Output:', 1), '(?m)^(Exit code:|Process exited with code) -?\d+$')
      THEN regexp_extract(output, '(?m)^(?:Exit code:|Process exited with code) (-?\d+)$', 1) = '0'
    WHEN regexp_matches(left(output, 200), '^(\w+ failed(:| for )|apply_patch verification failed|patch rejected|unsupported call)|(?m:^aborted by user)')
      THEN false
  END;
-- codex_success('Exit code: 0' || chr(10) || 'Wall time: 0 seconds' || chr(10) || 'Output:' || chr(10) || 'Process exited with code 3') -> true;
-- codex_success('Chunk ID: 9c30db' || chr(10) || 'Process exited with code 3' || chr(10) || 'Output:' || chr(10)) -> false;
-- codex_success('{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.1}}') -> false;
-- codex_success('Script completed' || chr(10) || 'Wall time 0.1 seconds') -> true;
-- codex_success('Script failed') -> false;
-- codex_success('apply_patch verification failed: no such line') -> false;
-- codex_success('exec_command failed for `ls`: no such folder') -> false;
-- codex_success('Wall time: 6.7 seconds' || chr(10) || 'aborted by user') -> false;
-- codex_success('Tests failed') -> NULL;
-- codex_success('Process running with session ID 7') -> NULL;
-- codex_success('Plan updated') -> NULL;

-- How long a tool of Codex took, by the output that it gave the model: milliseconds.
CREATE OR REPLACE MACRO codex_duration_ms(output) AS
  clamped(round(1000 * coalesce(
    try_cast(regexp_extract(split_part(output, chr(10) || 'Output:', 1), '(?m)^Wall time:? ([\d.]+) seconds', 1) AS DOUBLE),
    try_cast(regexp_extract(right(output, 200), '"duration_seconds":\s*([\d.]+)', 1) AS DOUBLE)
  )));
-- codex_duration_ms('Script completed' || chr(10) || 'Wall time 0.1 seconds') -> 100;
-- codex_duration_ms('{"output":"x","metadata":{"exit_code":2,"duration_seconds":1.25}}') -> 1250;
-- codex_duration_ms('Plan updated') -> NULL;

-- The counters of a usage of OpenAI's API, 0 where they are missing. The cached and the written ones are inside the input.
-- Counters below 0 are 0, and those beyond all limits stay beyond them.
CREATE OR REPLACE MACRO codex_tokens(usage) AS {
  'input': least(greatest(coalesce((usage).input_tokens, 0), 0), 1000000000000000),
  'cached': least(greatest(coalesce((usage).cached_input_tokens, 0), 0), 1000000000000000),
  'written': least(greatest(coalesce((usage).cache_write_input_tokens, 0), 0), 1000000000000000),
  'output': least(greatest(coalesce((usage).output_tokens, 0), 0), 1000000000000000)
};
-- codex_tokens({'input_tokens': 9, 'cached_input_tokens': 4, 'cache_write_input_tokens': NULL, 'output_tokens': 1}) -> {'input': 9, 'cached': 4, 'written': 0, 'output': 1};

-- Whether a total of tokens has begun anew after another one.
CREATE OR REPLACE MACRO is_codex_reset(total, before) AS
  (total).input < (before).input OR (total).cached < (before).cached OR (total).written < (before).written OR (total).output < (before).output;
-- is_codex_reset({'input': 9, 'cached': 4, 'written': 0, 'output': 1}, {'input': 5, 'cached': 4, 'written': 0, 'output': 1}) -> false;
-- is_codex_reset({'input': 9, 'cached': 3, 'written': 0, 'output': 1}, {'input': 5, 'cached': 4, 'written': 0, 'output': 1}) -> true;

-- The difference between two totals of tokens.
CREATE OR REPLACE MACRO codex_difference(total, before) AS {
  'input': greatest(0, (total).input - (before).input),
  'cached': greatest(0, (total).cached - (before).cached),
  'written': greatest(0, (total).written - (before).written),
  'output': greatest(0, (total).output - (before).output)
};
-- codex_difference({'input': 9, 'cached': 4, 'written': 0, 'output': 1}, {'input': 5, 'cached': 1, 'written': 0, 'output': 2}) -> {'input': 4, 'cached': 3, 'written': 0, 'output': 0};

-- Whether an id is a UUIDv7. These sort by the time at which they were made.
CREATE OR REPLACE MACRO is_uuid_v7(id) AS regexp_full_match(id, '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}');
-- is_uuid_v7('01a20508-807d-7892-8162-81ff9af338aa') -> true;
-- is_uuid_v7('01a20508-807d-4892-8162-81ff9af338aa') -> false;
-- is_uuid_v7('3') -> false;

-- The shell line of a command that is a list of words, as JSON. If it calls a shell with -c, it is the line for that shell.
CREATE OR REPLACE MACRO shell_line(command) AS
  CASE
    WHEN json_type(command) = 'ARRAY' AND regexp_full_match(command->>1, '-l?c') THEN command->>2
    WHEN json_type(command) = 'ARRAY'
      THEN array_to_string(
        list_transform(
          from_json(command, '["VARCHAR"]'),
          lambda word: CASE WHEN regexp_full_match(word, '[\w./=:@-]+') THEN word ELSE '"x"' END
        ),
        ' '
      )
    ELSE command->>'$'
  END;
-- shell_line(CAST('["/bin/bash", "-lc", "git commit -m x"]' AS JSON)) -> 'git commit -m x';
-- shell_line(CAST('["git", "commit", "-m", "a; b"]' AS JSON)) -> 'git commit -m "x"';
-- shell_line(CAST('"git commit"' AS JSON)) -> 'git commit';
-- coalesce(shell_line(CAST(NULL AS JSON)), 'none') -> 'none';

-- The shell lines in a script that runs commands, as in exec_command({cmd: "git status"}).
CREATE OR REPLACE MACRO script_shell_lines(script) AS
  array_to_string(
    list_transform(
      regexp_extract_all(script, '\bcmd["'']?\s*[:=]\s*("(?:[^"\\]|\\.)*"|''(?:[^''\\]|\\.)*''|`(?:[^`\\]|\\.)*`)', 1),
      lambda quoted: regexp_replace(
        replace(substr(quoted, 2, length(quoted) - 2), '\n', chr(10)),
        '\\(["''`\\])',
        '\1',
        'g'
      )
    ),
    chr(10)
  );
-- script_shell_lines('await tools.exec_command({cmd: "git commit -m \"x\""}); tools.exec_command({"cmd": ''ls''})') -> 'git commit -m "x"' || chr(10) || 'ls';
-- script_shell_lines('text("git commit")') -> '';

-- The tokens that a usage of Claude's API wrote to the cache: the larger of the flat counter and the sum of its split by
-- lifetime.
CREATE OR REPLACE MACRO cache_written(usage) AS greatest(
  coalesce((usage).cache_creation_input_tokens, 0),
  coalesce((usage).cache_creation.ephemeral_5m_input_tokens, 0) + coalesce((usage).cache_creation.ephemeral_1h_input_tokens, 0)
);
-- cache_written({'cache_creation_input_tokens': 60, 'cache_creation': {'ephemeral_5m_input_tokens': 20, 'ephemeral_1h_input_tokens': 25}}) -> 60;
-- cache_written({'cache_creation_input_tokens': NULL, 'cache_creation': {'ephemeral_5m_input_tokens': 20, 'ephemeral_1h_input_tokens': 25}}) -> 45;

-- Whether the path of a file names a session: a folder or a file is called so, up to a dot. Of a UUID the beginning is enough, which
-- some agents put into the name of a file.
CREATE OR REPLACE MACRO names_session(path, session_id) AS
  CASE
    WHEN regexp_full_match(session_id, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}') THEN contains(path, left(session_id, 8))
    ELSE contains(path || '/', '/' || session_id || '/') OR contains(path, '/' || session_id || '.')
  END;
-- names_session('/home/ada/.gemini/tmp/a/chats/session-2026-06-10T10-00-019e1000.json', '019e1000-0000-7000-8000-000000000000') -> true;
-- names_session('/home/ada/opencode/ses_1.json', 'ses_1') -> true;
-- names_session('/home/ada/tasks/1/ui_messages.json', '1') -> true;
-- names_session('/home/ada/opencode/ses_12.json', 'ses_1') -> false;
-- names_session('/home/ada/opencode/opencode.db', 'ses_1') -> false;

-- The calls of models that an answer of Claude's API lists, NULL without a list: those of its own model, of one that took over, and of
-- advisors.
CREATE OR REPLACE MACRO model_iterations(iterations) AS
  from_json(iterations, '[{
    "type": "VARCHAR", "model": "VARCHAR", "input_tokens": "BIGINT", "output_tokens": "BIGINT",
    "cache_read_input_tokens": "BIGINT", "cache_creation_input_tokens": "BIGINT",
    "cache_creation": {"ephemeral_5m_input_tokens": "BIGINT", "ephemeral_1h_input_tokens": "BIGINT"}
  }]');
-- (model_iterations('[{"type": "message", "input_tokens": 3}]')[1]).input_tokens -> 3;
-- model_iterations(NULL) -> NULL;

-- The time of what happened in a message of opencode. A fork copies the messages of its session: a copy is a millisecond later, so that it
-- gives way to the original wherever that is, but never on another day.
CREATE OR REPLACE MACRO opencode_ms(instant, is_copy) AS
  instant + CASE WHEN is_copy AND instant % 86400000 < 86399999 THEN 1 ELSE 0 END;
-- opencode_ms(1781085600000, false) -> 1781085600000;
-- opencode_ms(1781085600000, true) -> 1781085600001;
-- opencode_ms(1781135999999, true) -> 1781135999999;
-- opencode_ms(NULL, true) -> NULL;

-- The sum of some `tokens` of opencode.
CREATE OR REPLACE MACRO opencode_tokens(all_tokens) AS {
  'input': CAST(list_sum(list_transform(all_tokens, lambda tokens: coalesce((tokens).input, 0))) AS BIGINT),
  'output': CAST(list_sum(list_transform(all_tokens, lambda tokens: coalesce((tokens).output, 0) + coalesce((tokens).reasoning, 0))) AS BIGINT),
  'cache_read': CAST(list_sum(list_transform(all_tokens, lambda tokens: coalesce((tokens).cache.read, 0))) AS BIGINT),
  'cache_write': CAST(list_sum(list_transform(all_tokens, lambda tokens: coalesce((tokens).cache.write, 0))) AS BIGINT)
};
-- (opencode_tokens([{'input': 3, 'output': 4, 'reasoning': 1, 'cache': {'read': 2, 'write': NULL}}, NULL])).output -> 5;
-- (opencode_tokens([{'input': 3, 'output': 4, 'reasoning': 1, 'cache': {'read': 2, 'write': NULL}}, {'input': 3, 'output': 4, 'reasoning': 1, 'cache': {'read': 2, 'write': 5}}])).cache_write -> 5;

-- The model of a usage: `unknown` if nothing names it, so that its tokens count, without a price.
CREATE OR REPLACE MACRO model_name(name) AS coalesce(nullif(name, ''), 'unknown');
-- model_name('gpt-5') -> 'gpt-5';
-- model_name('') -> 'unknown';
-- model_name(NULL) -> 'unknown';

-- A number that telemetry has as a text, if an event can have it as a count; 0 where there is none. A text that is no such number
-- becomes one that no event can have.
CREATE OR REPLACE MACRO tokens_of(text) AS
  CASE WHEN text IS NULL OR text = '' THEN 0 ELSE coalesce(clamped(try_cast(text AS DOUBLE)), -1) END;
-- tokens_of('120') -> 120;
-- tokens_of('120.0') -> 120;
-- tokens_of(NULL) -> 0;
-- tokens_of('many') -> -1;
-- tokens_of('1e300') -> 1000000000000000;

-- A word such as a speed, a tier or a region; NULL for anything that events can't have as one: it is no reason to lose a call.
CREATE OR REPLACE MACRO word_of(text) AS
  CASE WHEN regexp_full_match(lower(trim(text)), '[a-z][a-z0-9_.-]{0,31}') THEN lower(trim(text)) END;
-- word_of('Fast') -> 'fast';
-- word_of('us-east-1') -> 'us-east-1';
-- word_of('') -> NULL;
-- word_of(NULL) -> NULL;
-- word_of('no word') -> NULL;

-- US dollars in a text; NULL for anything that no call can cost.
CREATE OR REPLACE MACRO dollars_of(text) AS
  CASE WHEN try_cast(text AS DOUBLE) BETWEEN 0 AND 1000000 THEN try_cast(text AS DOUBLE) END;
-- dollars_of('0.0028') -> 0.0028;
-- dollars_of('-1') -> NULL;
-- dollars_of('NaN') -> NULL;
-- dollars_of('free') -> NULL;

-- Whether a call of a model used any tokens.
CREATE OR REPLACE MACRO is_used(input, output, cache_read, cache_write) AS
  NOT (input = 0 AND output = 0 AND cache_read = 0 AND cache_write = 0);
-- is_used(0, 0, 5, 0) -> true;
-- is_used(0, 0, 0, 0) -> false;

-- A duration in milliseconds that telemetry has as a text, without finer digits; NULL where an event can't have it.
CREATE OR REPLACE MACRO milliseconds_of(text) AS count_of(floor(try_cast(text AS DOUBLE)));
-- milliseconds_of('1150') -> 1150;
-- milliseconds_of('981.7') -> 981;
-- milliseconds_of('soon') -> NULL;

-- A text as part of an id: as it is, or its MD5 if it is long; NULL if it is empty.
CREATE OR REPLACE MACRO id_of(text) AS CASE WHEN text <> '' THEN CASE WHEN is_longer(text, 128) THEN md5(text) ELSE text END END;
-- id_of('toolu_1') -> 'toolu_1';
-- id_of('') -> NULL;
-- length(id_of(repeat('x', 129))) -> 32;
