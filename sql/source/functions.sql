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

-- A shell line without the texts of its heredocs.
CREATE OR REPLACE MACRO without_heredocs(line) AS
  CASE
    WHEN contains(line, '<<')
      THEN list_reduce(
        list_prepend(line, list_distinct(regexp_extract_all(line, '(?:^|[^<])<<-?[ \t]*["''\\]?([A-Za-z_][\w.-]*)', 1))[1:20]),
        lambda text, word: regexp_replace(
          text,
          '(<<-?[ \t]*["''\\]?' || word || '["'']?(?:[^\w.\n-][^\n]*)?)\n(?s:.*?\n)??[ \t]*' || word || '[ \t\r]*(\n|$)',
          '\1\2',
          'g'
        )
      )
    ELSE line
  END;
-- without_heredocs('cat > a <<''EOF''' || chr(10) || 'git commit' || chr(10) || 'EOF' || chr(10) || 'ls') -> 'cat > a <<''EOF''' || chr(10) || 'ls';
-- without_heredocs('cat <<A <<-"B" | sh' || chr(10) || 'a' || chr(10) || 'A' || chr(10) || 'b' || chr(10) || chr(9) || 'B') -> 'cat <<A <<-"B" | sh';
-- without_heredocs('cat <<EOF' || chr(10) || 'EOF' || chr(10) || 'ls') -> 'cat <<EOF' || chr(10) || 'ls';
-- without_heredocs('cat <<<EOF && ls') -> 'cat <<<EOF && ls';
-- without_heredocs('git commit') -> 'git commit';

-- A shell line, and those that it gives other shells and substitutes in quotes. The character 3 is before one whose output is kept.
CREATE OR REPLACE MACRO shell_lines(line) AS
  list_transform(
    [regexp_replace(without_heredocs(line), '\\\r?\n', ' ', 'g')],
    lambda text: list_concat(
      [text],
      list_transform(
        regexp_extract_all(text, '(?is)(?:^|[\s(])(?:-[a-z]*c|-command|/c|eval)\s+(''[^'']*''|"(?:[^"\\]|\\.)*")', 1)[1:20],
        lambda quoted: regexp_replace(substr(quoted, 2, length(quoted) - 2), '\\(["\\$`])', '\1', 'g')
      ),
      list_transform(
        flatten(list_transform(
          list_filter(
            regexp_extract_all(text, '(?s)\\.|''[^'']*''|"(?:[^"\\]|\\.)*"|(?:^|[\s;&|()])#[^\n]*'),
            lambda piece: prefix(piece, '"') AND contains(piece, '$(')
          )[1:100],
          lambda quoted: regexp_extract_all(quoted, '\$\(([^()"]*)', 1)
        )),
        lambda substituted: chr(3) || substituted
      )
    )
  )[1];
-- shell_lines('git commit') -> ['git commit'];
-- shell_lines('bash -lc ''git commit -m "x"''') -> ['bash -lc ''git commit -m "x"''', 'git commit -m "x"'];
-- shell_lines('sh -c "git commit -m \"x\""') -> ['sh -c "git commit -m \"x\""', 'git commit -m "x"'];
-- shell_lines('URL="$(gh pr create --fill)"') -> ['URL="$(gh pr create --fill)"', chr(3) || 'gh pr create --fill'];
-- shell_lines('# it''s "$(gh pr create)"') -> ['# it''s "$(gh pr create)"'];

-- The commands in a shell line, also those that it gives other shells and substitutes. Quoted and escaped text and comments are
-- replaced, so that they can't look like commands; a quoted word loses its quotes. A command that runs if the one before it fails
-- begins with the character 1, and one whose output is kept with the character 3.
CREATE OR REPLACE MACRO shell_commands(line) AS
  flatten(list_transform(
    shell_lines(line),
    lambda text: regexp_split_to_array(
      regexp_replace(
        replace(
          replace(
            regexp_replace(
              regexp_replace(
                text,
                '(?s)''([\w./:@+][\w./:=@+-]*)''|"([\w./:@+][\w./:=@+-]*)"|(\\.|''[^'']*''|"(?:[^"\\]|\\.)*"|(?:^|[\s;&|()])#[^\n]*)',
                '\1\2\3',
                'g'
              ),
              '(?s)\\.|''[^'']*''|"(?:[^"\\]|\\.)*"|(^|[\s;&|()])#[^\n]*',
              '\1x',
              'g'
            ),
            '||',
            ';' || chr(1)
          ),
          '$(',
          '(' || chr(3)
        ),
        '\d*>&[\d-]|(&)>',
        '\1 >',
        'g'
      ),
      '[;&|()`\n]+'
    )
  ));
-- shell_commands('cd "a;b" && git commit') -> ['cd x ', ' git commit'];
-- shell_commands('"/usr/bin/git" commit || ls') -> ['/usr/bin/git commit ', chr(1) || ' ls'];
-- shell_commands('a=$(ls)') -> ['a=', chr(3) || 'ls', ''];
-- shell_commands('# it''s' || chr(10) || 'git commit -m ''x y''') -> ['x', 'git commit -m x'];
-- shell_commands('') -> [''];

-- The expression of what can be before the name of a program where a command begins: words of the shell, assignments, and programs
-- that run others, with their options.
CREATE OR REPLACE MACRO before_program() AS
  '^[\x01\x03\s]*(?:(?:then|do|else|elif|if|while|until|!|\{|\w+=\S*'
    || '|(?:\S*/)?(?:env|command|builtin|exec|eval|time|nice|nohup|sudo|doas|g?timeout|stdbuf|setsid|ionice|caffeinate|xargs|winpty|wsl|rtk|(?:cmd|powershell|pwsh)(?:\.exe)?)'
    || '(?:\s+(?:-[a-zA-Z]\s+\S+|-\S+|/\w|\w+=\S*|\d\S*|\{\}))*'
    || '|(?:op|doppler|mise|nix|devbox|dotenvx?|infisical)(?:\s+[^\s-]\S*)*\s+--'
    || ')\s+)*(?:\S*/)?';
-- regexp_matches('if ! A=b env -i C=d timeout -k 5 60 /usr/bin/git', before_program() || 'git$') -> true;
-- regexp_matches('xargs -I {} git', before_program() || 'git$') -> true;
-- regexp_matches('op run -- gh', before_program() || 'gh$') -> true;
-- regexp_matches('echo git', before_program() || 'git$') -> false;

-- The expression of git and the options before its command.
CREATE OR REPLACE MACRO git_program() AS
  'git(?:\.exe)?(?:\s+(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|config-env))\s+\S+|\s+--?[\w-]+(?:=\S+)?)*\s+';
-- regexp_matches('git.exe -C /a -c b=c --no-pager commit', '^' || git_program() || 'commit$') -> true;
-- regexp_matches('git log commit', '^' || git_program() || 'commit$') -> false;

-- Those of some commands that count: one that runs in place of another that failed doesn't.
CREATE OR REPLACE MACRO without_alternatives(commands) AS
  list_filter(commands, lambda command, place: place = 1 OR NOT prefix(command, chr(1)));
-- without_alternatives(['git commit', chr(1) || 'git commit', 'git commit']) -> ['git commit', 'git commit'];
-- without_alternatives([chr(1) || 'git commit']) -> [chr(1) || 'git commit'];

-- The commands that commit.
CREATE OR REPLACE MACRO commit_commands(line) AS
  list_filter(
    shell_commands(line),
    lambda command:
      regexp_matches(command, before_program() || git_program() || 'commit($|[\s<>])')
      AND NOT regexp_matches(command, '\s(?:--(?:dry-run|help|short|porcelain|long)|-h)($|[\s=])')
  );
-- len(commit_commands('git commit -m "fix it"')) -> 1;
-- len(commit_commands('git commit&&git push')) -> 1;
-- len(commit_commands('git commit --dry-run && git commit -m x')) -> 1;
-- len(commit_commands('git commit --dry-run; git commit -h; git commit --help | head; git commit --short')) -> 0;
-- len(commit_commands('git commit -m "say what --dry-run does"')) -> 1;
-- len(commit_commands('cd "my folder" && git -C "/srv/my app" -c user.name=ada commit --amend')) -> 1;
-- len(commit_commands('GIT_AUTHOR_NAME="Ada L" git commit; ls')) -> 1;
-- len(commit_commands('git commit -m "$(cat <<''EOF''' || chr(10) || 'It''s "no"' || chr(10) || 'EOF' || chr(10) || ')" && git push')) -> 1;
-- len(commit_commands('cat > hook.sh <<EOF' || chr(10) || 'git commit -m x' || chr(10) || 'EOF' || chr(10) || 'chmod +x hook.sh')) -> 0;
-- len(commit_commands('if git commit -q; then echo done; fi')) -> 1;
-- len(commit_commands('git \' || chr(10) || '  commit')) -> 1;
-- len(commit_commands('git commit>log 2>&1')) -> 1;
-- len(commit_commands('echo it\''s && git commit -m ''x''')) -> 1;
-- len(commit_commands('# Let''s record it' || chr(10) || 'git add -A && git commit -m ''fix: tidy''')) -> 1;
-- len(commit_commands('env GIT_EDITOR=true git commit; timeout 60 git commit; command git commit; "/usr/bin/git" commit')) -> 4;
-- len(commit_commands('bash -c ''git commit -m x'' && cmd.exe /c git commit')) -> 2;
-- len(commit_commands('powershell.exe -NoProfile -Command "git add .; git commit -m ''x''"')) -> 1;
-- len(commit_commands('echo "git commit"; echo git commit')) -> 0;
-- len(commit_commands('git commit-tree HEAD; git log --grep commit; git help commit')) -> 0;
-- len(commit_commands('git push # git commit')) -> 0;
-- coalesce(len(commit_commands(NULL)), 0) -> 0;

-- The commands of git and other programs that open a pull request or merge request, unless they only say what they would do or leave
-- it to a browser.
CREATE OR REPLACE MACRO opening_commands(line) AS
  list_filter(
    shell_commands(line),
    lambda command:
      (
        is_gh_opening(command)
        OR regexp_matches(
          command,
          before_program() || '(?:'
            || 'az(?:\.cmd)?\s+repos\s+pr\s+create'
            || '|tea\s+(?:pulls?|pr)\s+(?:create|c)'
            || '|hub\s+pull-request'
            || '|gt\s+(?:--?[\w-]+\s+)*(?:submit|ss?|(?:stack|branch|downstack|upstack)\s+(?:submit|s)|bs|dss|uss)'
            || '|' || git_program() || 'push\s(?:.*\s)?(?:(?:-o\s*|--push-option[\s=])merge_request\.create|\S*refs/for/\S*)'
            || '|gh(?:\.exe)?\s+api\s(?:.*\s)?\S*repos/\S+/pulls\s(?:.*\s)?(?:-f|-F|--field|--raw-field|--input|POST)'
            || '|glab\s+api\s(?:.*\s)?\S*/merge_requests\s(?:.*\s)?(?:-f|-F|--field|--raw-field|--input|POST)'
            || ')($|[\s<>=])'
        )
      )
      AND NOT regexp_matches(command, '\s--(?:dry-run|help)($|[\s=])')
  );
-- len(opening_commands('gh pr create --fill')) -> 1;
-- len(opening_commands('git push && gh pr create|cat')) -> 1;
-- len(opening_commands('glab mr create')) -> 1;
-- len(opening_commands('gh pr new -f; gh -R acme/engine pr create; gh pr -R acme/engine create')) -> 3;
-- len(opening_commands('PR_URL="$(gh pr create --fill)" && echo $PR_URL')) -> 1;
-- len(opening_commands('az repos pr create; tea pr c; hub pull-request -h x; gt submit --stack; gt ss')) -> 5;
-- len(opening_commands('git push -o merge_request.create -o merge_request.target=main origin x')) -> 1;
-- len(opening_commands('gh api repos/acme/engine/pulls -f title=x')) -> 1;
-- len(opening_commands('gh pr create --dry-run; gh pr create --web; gh pr create -fw; gh pr create --help')) -> 0;
-- len(opening_commands('gh pr view; gh api repos/acme/engine/pulls; git push -o ci.skip')) -> 0;
-- len(opening_commands('echo "gh pr create"')) -> 0;

-- Whether a command is one of gh or glab that opens a pull request or merge request: these print its address, and nothing else.
CREATE OR REPLACE MACRO is_gh_opening(command) AS
  regexp_matches(
    command,
    before_program() || '(?:'
      || 'gh(?:\.exe)?(?:\s+(?:-R|--repo)[\s=]\s*\S+|\s+--?[\w-]+(?:=\S+)?)*\s+pr(?:\s+(?:-R|--repo)[\s=]\s*\S+)*\s+(?:create|new)'
      || '|(?:glab|lab)(?:\.exe)?(?:\s+(?:-R|--repo)[\s=]\s*\S+)*\s+(?:mr|merge-request)(?:\s+(?:-R|--repo)[\s=]\s*\S+)*\s+(?:create|new|for|new-for|create-for)'
      || ')($|[\s<>])'
  )
  AND NOT regexp_matches(command, '\s(?:--(?:dry-run|help|web)|-h|-[defy]*w[defy]*)($|\s)');
-- is_gh_opening('gh pr create --fill') -> true;
-- is_gh_opening('glab -R acme/engine mr new --yes') -> true;
-- is_gh_opening('gh pr create --web') -> false;
-- is_gh_opening('gh pr create --web=false') -> true;
-- is_gh_opening('gh pr edit') -> false;

-- Whether a command prints nothing of what it does: it is told so, or its output goes elsewhere.
CREATE OR REPLACE MACRO is_silent(command) AS
  prefix(command, chr(3)) OR regexp_matches(command, '(?:^|[^\d])1?>') OR regexp_matches(command, 'commit\b.*\s(?:--quiet|-[apsvneiozS]*q\w*)($|[\s<>])');
-- is_silent('git commit -qm x') -> true;
-- is_silent('git commit --quiet -m x') -> true;
-- is_silent('git commit -m x > /dev/null') -> true;
-- is_silent(chr(3) || 'gh pr create') -> true;
-- is_silent('git commit -m x 2> log') -> false;
-- is_silent('git commit --amend') -> false;

-- Whether commands only show what is written elsewhere, such as a log with the output of an older commit.
CREATE OR REPLACE MACRO only_show(commands) AS
  len(list_filter(commands, lambda command: NOT regexp_matches(
    command,
    '^[\x01\x03\s]*(?:$|(?:(?:then|do|else|if|!|\{|\w+=\S*)\s+)*(?:\S*/)?(?:(?:cat|bat|less|more|head|tail|grep|egrep|fgrep|rg|ag|sed|awk|cut|sort|uniq|wc|tr|jq|tee|echo|printf|cd|ls|pwd|find|sleep|true|test|diff|journalctl|fi|done)($|\s)|x\s*$|'
      || git_program() || '(?:log|show|reflog|diff|status|branch|blame|grep|stash|notes)\b))'
  ))) = 0;
-- only_show(['cd a ', ' cat log ', ' head']) -> true;
-- only_show(['git -C a log', '']) -> true;
-- only_show(['cat log', 'make release']) -> false;
-- only_show(['x commit']) -> false;

-- The different ones of some texts, in their order.
CREATE OR REPLACE MACRO distinct_in_order(texts) AS
  list_transform([texts[1:500]], lambda all_of: list_filter(all_of, lambda one, place: list_position(all_of, one) = place))[1];
-- distinct_in_order(['b', 'a', 'b']) -> ['b', 'a'];
-- distinct_in_order([]) -> [];

-- The hashes of the commits that git printed.
CREATE OR REPLACE MACRO printed_commits(output) AS
  CASE
    WHEN contains(output, ']') THEN distinct_in_order(regexp_extract_all(output, '(?m)^\[[^\]\n]+ ([0-9a-f]{7,40})\]', 1))
    ELSE []
  END;
-- printed_commits('[main 4b825dc] Fix it' || chr(10) || ' 1 file changed' || chr(10) || '[main (root-commit) 1b825dc] y') -> ['4b825dc', '1b825dc'];
-- printed_commits('see [main 4b825dc]') -> [];

-- Whether git, gh or a hook printed that nothing came of a commit or a pull request.
CREATE OR REPLACE MACRO is_failure(output) AS
  coalesce(
    regexp_matches(
      output,
      '(?mi)^\W{0,3}fail(?:ed|ure)?\b|nothing (?:added )?to commit|no changes added to commit|create failed|already exists|^(?:fatal|error|aborted)\b|\babort(?:ing|ed)\b|\bhook\b.*\b(?:fail|exit|declined)|script failed|\.{3}\s*failed\s*$|✖|exited with (?:code|error)|must first push'
    ),
    false
  );
-- is_failure('nothing to commit, working tree clean') -> true;
-- is_failure('husky - pre-commit script failed (code 1)') -> true;
-- is_failure('To github.com:acme/engine' || chr(10) || '   1..2  main -> main') -> false;
-- is_failure('12 passed, 0 failed') -> false;
-- is_failure('failed') -> true;
-- is_failure(NULL) -> false;

-- The commits that a call of a shell made: a list of their hashes, each with the ending of its event's id. git prints the hash of each.
-- Where it printed none, the command says how many there are: all of them if nothing at all was printed, or nothing is known of that,
-- otherwise those that are told to be silent. `told` is a hash that the agent itself found, and `succeeded` is false for a call that
-- failed, of which only printed commits count.
CREATE OR REPLACE MACRO commits_of(line, output, succeeded, told) AS
  CASE
    WHEN told IS NOT NULL OR contains(line, 'commit') OR len(printed_commits(output)) > 0
      THEN list_transform(
        [{
          'printed': CASE WHEN only_show(shell_commands(line)) THEN [] ELSE printed_commits(output) END,
          'committing': without_alternatives(commit_commands(line)),
          'can_be_silent': succeeded AND NOT is_failure(
            CASE WHEN regexp_matches(line, '\bgit\b[^\n;&|]*\sstatus\b') THEN replace(output, 'nothing to commit, working tree clean', '') ELSE output END
          ),
          'is_silent': coalesce(trim(output, E' \t\r\n') = '', true),
          'is_summed_up': coalesce(regexp_matches(output, '(?m)^ \d+ files? changed|^ (?:create|delete) mode \d'), false)
        }],
        lambda call: with_told(
          (call).printed,
          CASE
            WHEN NOT coalesce((call).can_be_silent, false) THEN 0
            WHEN (call).is_silent THEN coalesce(len((call).committing), 0)
            ELSE coalesce(len(list_filter((call).committing, lambda command: is_silent(command))), 0)
              + CASE WHEN (call).is_summed_up AND len((call).printed) = 0 AND len(list_filter((call).committing, lambda command: NOT is_silent(command))) > 0 THEN 1 ELSE 0 END
          END,
          coalesce(len((call).committing), 0),
          told
        )
      )[1]
    ELSE []
  END;
-- commits_of('git commit -m x', '[main 4b825dc] x', true, NULL) -> [{'ending': '', 'name': '4b825dc'}];
-- commits_of('git commit -m x && git push', '[main 4b825dc] x' || chr(10) || 'error: failed to push', false, NULL) -> [{'ending': '', 'name': '4b825dc'}];
-- commits_of('git commit -m x; git commit -m y', '[main 4b825dc] x' || chr(10) || '[main 1b825dc] y', true, NULL) -> [{'ending': '', 'name': '4b825dc'}, {'ending': ':2', 'name': '1b825dc'}];
-- commits_of('git commit -qm x && git commit -m y', '[main 4b825dc] y', true, NULL) -> [{'ending': '', 'name': '4b825dc'}, {'ending': ':2', 'name': NULL}];
-- commits_of('git commit -qm x || git commit -m x', '[main 4b825dc] x', true, NULL) -> [{'ending': '', 'name': '4b825dc'}];
-- commits_of('make release', '[main 4b825dc] Release', true, NULL) -> [{'ending': '', 'name': '4b825dc'}];
-- commits_of('cat commit.log', '[main 4b825dc] Release', true, NULL) -> [];
-- commits_of('git commit -m x', '', true, NULL) -> [{'ending': '', 'name': NULL}];
-- commits_of('git commit -m x', NULL, true, NULL) -> [{'ending': '', 'name': NULL}];
-- commits_of('git commit -m x', NULL, false, NULL) -> [];
-- commits_of('git commit -m x', NULL, true, '4b825dc') -> [{'ending': '', 'name': '4b825dc'}];
-- commits_of('git commit -m x', '[main 4b825dc] x', true, '4b825dc0') -> [{'ending': '', 'name': '4b825dc'}];
-- commits_of('git commit -m x | tail -1', ' 1 file changed, 1 insertion(+)', true, NULL) -> [{'ending': '', 'name': NULL}];
-- commits_of('git commit -m x 2>&1 | tail -5', 'husky - pre-commit script failed (code 1)', true, NULL) -> [];
-- commits_of('git commit -m x || true', 'nothing to commit, working tree clean', true, NULL) -> [];
-- commits_of('git commit -qm x && git push', '   1..2  main -> main', true, NULL) -> [{'ending': '', 'name': NULL}];
-- commits_of('git commit -qm x && git status', 'nothing to commit, working tree clean', true, NULL) -> [{'ending': '', 'name': NULL}];
-- commits_of('ls', 'a', true, NULL) -> [];
-- commits_of(NULL, NULL, true, NULL) -> [];

-- Names that were printed, and places for others that weren't, up to a number of commands: each with the ending of its event's id.
-- A name that an agent told takes the place of one that wasn't printed.
CREATE OR REPLACE MACRO with_told(printed, unprinted, commands, told) AS
  list_transform(
    [list_concat(
      printed,
      CASE WHEN told IS NOT NULL AND len(list_filter(printed, lambda name: prefix(name, told) OR prefix(told, name))) = 0 THEN [told] ELSE [] END
    )],
    lambda named: list_transform(
      range(1, 1 + greatest(len(named), least(commands, len(printed) + unprinted, 1000))),
      lambda place: {'ending': CASE WHEN place = 1 THEN '' ELSE ':' || place END, 'name': named[place]}
    )
  )[1];
-- with_told(['a'], 1, 2, NULL) -> [{'ending': '', 'name': 'a'}, {'ending': ':2', 'name': NULL}];
-- with_told(['abc'], 0, 1, 'abcdef') -> [{'ending': '', 'name': 'abc'}];
-- with_told([], 1, 1, 'abc') -> [{'ending': '', 'name': 'abc'}];
-- with_told([], 0, 1, NULL) -> [];

-- The expression of the address of a pull request or merge request.
CREATE OR REPLACE MACRO pull_request_address() AS
  'https?://[^\s"''<>\\()\[\]]+/(?:pulls?|merge_requests|pull-requests|pull[rR]equests?|github/pr/[\w.-]{1,100}/[\w.-]{1,100})/\d+';
-- regexp_full_match('https://github.com/acme/engine/pull/7', pull_request_address()) -> true;
-- regexp_full_match('https://gitlab.com/acme/engine/-/merge_requests/8', pull_request_address()) -> true;
-- regexp_full_match('https://dev.azure.com/acme/engine/_git/engine/pullrequest/9', pull_request_address()) -> true;
-- regexp_full_match('https://app.graphite.dev/github/pr/acme/engine/10', pull_request_address()) -> true;
-- regexp_full_match('https://github.com/acme/engine/pull/new/x', pull_request_address()) -> false;

-- The addresses of pull requests and merge requests that were printed, those first that a line consists of or that JSON calls the
-- address of a page. Addresses that were there before, as gh and gt say, aren't among them, nor those of an API beside others.
CREATE OR REPLACE MACRO printed_pull_requests(output) AS
  list_transform(
    [list_transform(
      [CASE WHEN contains(output, '://') THEN output END],
      lambda text: list_filter(
        distinct_in_order(list_concat(
          regexp_extract_all(text, '(?m)^[ \t]*(' || pull_request_address() || ')[ \t\r]*$', 1),
          regexp_extract_all(text, '(?:html_url|web_url|webUrl)\\*"\s*:\s*\\*"(' || pull_request_address() || ')', 1),
          regexp_extract_all(text, pull_request_address())
        )),
        lambda address: NOT is_longer(address, 400) AND NOT list_contains(
          list_concat(
            regexp_extract_all(text, '(?i)already exists:?\s*(' || pull_request_address() || ')', 1),
            regexp_extract_all(text, '(' || pull_request_address() || ')[^\n]{0,100}\((?:updated|no-op)', 1)
          ),
          address
        )
      )
    )[1]],
    lambda found: list_filter(
      found,
      lambda address: NOT regexp_matches(address, '//api\.|/api/|/_apis/')
        OR len(list_filter(found, lambda other: NOT regexp_matches(other, '//api\.|/api/|/_apis/'))) = 0
    )
  )[1];
-- printed_pull_requests('Creating it' || chr(10) || 'https://github.com/acme/engine/pull/7') -> ['https://github.com/acme/engine/pull/7'];
-- printed_pull_requests('"url":"https://api.github.com/repos/acme/engine/pulls/7","html_url":"https://github.com/acme/engine/pull/7"') -> ['https://github.com/acme/engine/pull/7'];
-- printed_pull_requests('a pull request for branch "x" already exists:' || chr(10) || 'https://github.com/acme/engine/pull/1') -> [];
-- printed_pull_requests('x: https://app.graphite.dev/github/pr/acme/engine/1 (updated)') -> [];
-- printed_pull_requests('see https://a.b/c/pull/1' || chr(10) || 'https://a.b/c/pull/2') -> ['https://a.b/c/pull/2', 'https://a.b/c/pull/1'];
-- printed_pull_requests('https://github.com/acme/engine') -> [];
-- printed_pull_requests(NULL) -> [];

-- The pull requests and merge requests that a call of a shell opened: a list of their addresses, each with the ending of its event's
-- id. They are the printed ones, at most as many as there are commands that open one, unless these run more than once. Where none was
-- printed, commands of gh and glab count as those of commits_of do. `told` is the address of one that the agent itself found.
CREATE OR REPLACE MACRO pull_requests_of(line, output, succeeded, told) AS
  CASE
    WHEN told IS NOT NULL OR regexp_matches(line, '\b(?:pr|mr|pulls?|merge[-_]requests?|pull-request|gt|refs/for)\b')
      THEN list_transform(
        [{
          'printed': printed_pull_requests(output),
          'opening': without_alternatives(opening_commands(line)),
          'refused': coalesce(len(regexp_extract_all(output, '(?i)(?:pull|merge) request[^\n]{0,300}already exists')), 0),
          'is_repeated': regexp_matches(line, '\b(?:for|while|until|xargs|parallel|foreach|gt)\b|\w\s*\(\)'),
          'can_be_silent': succeeded AND NOT is_failure(output),
          'is_silent': coalesce(trim(output, E' \t\r\n') = '', true)
        }],
        lambda call: with_told(
          (call).printed[1:CASE
            WHEN coalesce(len((call).opening), 0) = 0 THEN 0
            WHEN (call).is_repeated THEN 500
            ELSE greatest(0, len((call).opening) - (call).refused)
          END],
          CASE
            WHEN len((call).printed) > 0 OR NOT coalesce((call).can_be_silent, false) THEN 0
            ELSE coalesce(len(list_filter((call).opening, lambda command: is_gh_opening(command) AND ((call).is_silent OR is_silent(command)))), 0)
          END,
          coalesce(len((call).opening), 0),
          told
        )
      )[1]
    ELSE []
  END;
-- pull_requests_of('gh pr new --fill', 'https://github.com/acme/engine/pull/1', true, NULL) -> [{'ending': '', 'name': 'https://github.com/acme/engine/pull/1'}];
-- pull_requests_of('gh pr create --fill && gh pr view', 'https://a.b/c/pull/1' || chr(10) || 'url: https://a.b/c/pull/1', true, NULL) -> [{'ending': '', 'name': 'https://a.b/c/pull/1'}];
-- pull_requests_of('for b in x y; do gh pr create -H $b; done', 'https://a.b/c/pull/1' || chr(10) || 'https://a.b/c/pull/2', true, NULL) -> [{'ending': '', 'name': 'https://a.b/c/pull/1'}, {'ending': ':2', 'name': 'https://a.b/c/pull/2'}];
-- pull_requests_of('gh pr create --fill || gh pr view --json url -q .url', 'a pull request for branch "x" into branch "main" already exists:' || chr(10) || 'https://a.b/c/pull/1', true, NULL) -> [];
-- pull_requests_of('gh pr create --fill', 'pull request create failed: no commits', false, NULL) -> [];
-- pull_requests_of('gh pr create --fill && gh pr checks', 'https://a.b/c/pull/1' || chr(10) || 'build fail', false, NULL) -> [{'ending': '', 'name': 'https://a.b/c/pull/1'}];
-- pull_requests_of('gh pr create --fill | cat', '', true, NULL) -> [{'ending': '', 'name': NULL}];
-- pull_requests_of('az repos pr create', '', true, NULL) -> [];
-- pull_requests_of('git push -o merge_request.create', 'remote: View merge request for x:' || chr(10) || 'remote:   https://gitlab.com/a/b/-/merge_requests/8', true, NULL) -> [{'ending': '', 'name': 'https://gitlab.com/a/b/-/merge_requests/8'}];
-- pull_requests_of('git push', 'remote: View merge request for x:' || chr(10) || 'remote:   https://gitlab.com/a/b/-/merge_requests/8', true, NULL) -> [];
-- pull_requests_of('gh pr create', NULL, true, 'https://a.b/c/pull/1') -> [{'ending': '', 'name': 'https://a.b/c/pull/1'}];
-- pull_requests_of('gh pr list', 'https://a.b/c/pull/1', true, NULL) -> [];
-- pull_requests_of(NULL, NULL, true, NULL) -> [];

-- Whether a tool of an MCP server opens a pull request or merge request.
CREATE OR REPLACE MACRO is_pull_request_tool(name) AS
  coalesce(regexp_matches(lower(name), '(?:^|[^a-z])create[_-]?(?:pull|merge)[_-]?request$'), false);
-- is_pull_request_tool('create_pull_request') -> true;
-- is_pull_request_tool('github.create_pull_request') -> true;
-- is_pull_request_tool('mcp__plugin_gitlab_gitlab__create_merge_request') -> true;
-- is_pull_request_tool('github_createPullRequest') -> true;
-- is_pull_request_tool('create_pull_request_review') -> false;
-- is_pull_request_tool('recreate_pull_request') -> false;
-- is_pull_request_tool(NULL) -> false;

-- The pull request that a tool of an MCP server opened, as pull_requests_of has those of a shell.
CREATE OR REPLACE MACRO pull_requests_of_tool(name, output, succeeded) AS
  CASE
    WHEN is_pull_request_tool(name)
      AND succeeded
      AND NOT coalesce(regexp_matches(output, '(?i)already exists|validation failed|"?is_?error\\*"?\s*:\s*true'), false)
      THEN [{'ending': '', 'name': printed_pull_requests(output)[1]}]
    ELSE []
  END;
-- pull_requests_of_tool('mcp__github__create_pull_request', '{"html_url":"https://github.com/acme/engine/pull/7"}', true) -> [{'ending': '', 'name': 'https://github.com/acme/engine/pull/7'}];
-- pull_requests_of_tool('create_merge_request', NULL, true) -> [{'ending': '', 'name': NULL}];
-- pull_requests_of_tool('create_pull_request', 'Validation Failed: A pull request already exists for acme:x.', true) -> [];
-- pull_requests_of_tool('create_pull_request', NULL, false) -> [];
-- pull_requests_of_tool('get_pull_request', 'https://github.com/acme/engine/pull/7', true) -> [];

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

-- The output of a command that is a member of JSON; any other text as it is.
CREATE OR REPLACE MACRO printed_by_command(text) AS
  CASE WHEN prefix(text, '{') THEN coalesce(try_cast(text AS JSON)->>'output', text) ELSE text END;
-- printed_by_command('{"chunk_id":"a61b30","exit_code":0,"output":"[main 4b825dc] Fix it"}') -> '[main 4b825dc] Fix it';
-- printed_by_command('{"chunk_id":"a61b30"}') -> '{"chunk_id":"a61b30"}';
-- printed_by_command('{cut off') -> '{cut off';
-- printed_by_command('[main 4b825dc] Fix it') -> '[main 4b825dc] Fix it';

-- The output of a command without the labels that shell tools print around it, or the JSON that they put it in.
CREATE OR REPLACE MACRO command_output(output) AS
  regexp_replace(
    regexp_replace(
      regexp_replace(
        regexp_replace(CASE WHEN prefix(output, '{"output":') THEN printed_by_command(output) ELSE output END, '\x1b\[[0-9;]*m', '', 'g'),
        '^(?s:Command: .*?\nDirectory: [^\n]*\n|Command executed[^\n]*\n?|(?:(?:Chunk ID|Wall time|Exit code|Process exited|Original token|Total output)[^\n]*\n)+)',
        ''
      ),
      '(?m)^(?:Output|Stdout):[ \r]*',
      '',
      'g'
    ),
    '(?im)^(?:\((?:empty|none|no output|Bash completed with no output)\)|Error: \(none\)|Exit Code: -?\d+|(?:Signal|Background PIDs|Process Group PGID): [^\n]*|</?untrusted_context>|<[^>\n]*exit(?:ed with exit)? code -?\d+>)\s*$',
    '',
    'g'
  );
-- command_output('Command: git commit' || chr(10) || 'Directory: (root)' || chr(10) || 'Output: [main 4b825dc] Fix it') -> '[main 4b825dc] Fix it';
-- trim(command_output('Command: git commit -q' || chr(10) || 'Directory: (root)' || chr(10) || 'Output: (empty)' || chr(10) || 'Error: (none)' || chr(10) || 'Exit Code: 0' || chr(10) || 'Signal: (none)'), chr(10)) -> '';
-- command_output('Chunk ID: 9c30db' || chr(10) || 'Process exited with code 0' || chr(10) || 'Output:' || chr(10) || '[main 4b825dc] x') -> chr(10) || '[main 4b825dc] x';
-- command_output('{"output":"[main 4b825dc] x","metadata":{"exit_code":0}}') -> '[main 4b825dc] x';
-- command_output('[main 4b825dc] Fix it') -> '[main 4b825dc] Fix it';

-- Whether a prompt of Claude Code was written by the program or another agent, by its beginning, which may be JSON.
CREATE OR REPLACE MACRO is_of_program(prompt) AS
  coalesce(
    regexp_matches(
      prompt,
      '^(\[\{"type":"text","text":)?"?(\s|\\n)*(<(local-command-(stdout|stderr|caveat)|bash-(stdout|stderr)|task-notification|teammate-message|cross-session-message|tick|fork-boilerplate)([\s>\\]|$)|\[Request interrupted by user|Caveat: The messages below)'
    ),
    false
  );
-- is_of_program('"<teammate-message teammate_id=\"dev-1\">') -> true;
-- is_of_program('[{"type":"text","text":"\n<task-notification>') -> true;
-- is_of_program('<teammate-message') -> true;
-- is_of_program('"See <teammate-message>"') -> false;
-- is_of_program('"hello"') -> false;
-- is_of_program(NULL) -> false;

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

-- Whether a tool's output begins by saying that the call was refused by a person or a rule, or was interrupted by a person. These are the
-- words of Claude Code, Codex, opencode, Cline, Roo Code, Gemini CLI and Droid.
CREATE OR REPLACE MACRO says_stopped(printed) AS
  coalesce(
    regexp_matches(
      left(printed, 400),
      '^(<tool_use_error>|Error: )?(The user (doesn.t want to (proceed with|take) this (tool use|action)|rejected permission to use|dismissed this question|has specified a rule which prevents|denied this operation)|\[Request interrupted by user|Permission to use .{1,300} (has been|was) denied|Permission for this action (has been|was) denied|Claude requested permissions to |This command requires approval|PreToolUse:[^ ]{1,100} hook error|Hook PreToolUse:[^ ]{1,100} denied this tool|User rejected|Tool execution aborted|((exec )?command|patch) rejected by user|patch rejected|user (cancell?ed|rejected) MCP tool call|rejected: blocked by policy|(Request|Operation|Tool execution|Tool call) (was )?cancell?ed( by (the )?user|\.?$))|(?m:^aborted by user)|; rejected by user approval settings'
    ),
    false
  );
-- says_stopped('The user doesn''t want to proceed with this tool use. The tool use was rejected') -> true;
-- says_stopped('[Request interrupted by user for tool use]') -> true;
-- says_stopped('Permission to use Bash with command ls has been denied.') -> true;
-- says_stopped('Error: The user rejected permission to use this specific tool call.') -> true;
-- says_stopped('Wall time: 6.7 seconds' || chr(10) || 'aborted by user') -> true;
-- says_stopped('patch rejected: writing outside of the project; rejected by user approval settings') -> true;
-- says_stopped('The user denied this operation and provided the following feedback:') -> true;
-- says_stopped('grep: The user denied this operation.') -> false;
-- says_stopped('Exit code 1') -> false;
-- says_stopped(NULL) -> false;

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
    WHEN regexp_matches(left(output, 200), '^(\w+ failed(:| for )|apply_patch verification failed|(exec command |command |patch )rejected|unsupported call)|(?m:^aborted by user)')
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

-- The shell line of a command that is a list of words, as JSON. If it calls a shell with a line, it is that line.
CREATE OR REPLACE MACRO shell_line(command) AS
  CASE
    WHEN json_type(command) = 'ARRAY'
      THEN list_transform(
        [from_json(command, '["VARCHAR"]')],
        lambda words: list_transform(
          [CASE
            WHEN regexp_matches(words[1], '(?i)(?:^|[/\\])(?:(?:ba|z|da|k|fi)?sh|powershell|pwsh|cmd)(?:\.exe)?$')
              THEN list_position(list_transform(words, lambda word: regexp_full_match(word, '(?i)-[a-z]*c|-command|/c')), true)
          END],
          lambda place: CASE
            WHEN place > 0 AND regexp_matches(words[1], '(?i)sh(?:\.exe)?$') AND NOT regexp_matches(words[1], '(?i)p(?:ower|w)sh')
              THEN words[place + 1]
            WHEN place > 0 THEN array_to_string(words[place + 1:], ' ')
            ELSE array_to_string(
              list_transform(words, lambda word: CASE WHEN regexp_full_match(word, '[\w./=:@-]+') THEN word ELSE '"x"' END),
              ' '
            )
          END
        )[1]
      )[1]
    ELSE command->>'$'
  END;
-- shell_line(CAST('["/bin/bash", "-lc", "git commit -m x"]' AS JSON)) -> 'git commit -m x';
-- shell_line(CAST('["bash", "-l", "-c", "git commit -m x", "a"]' AS JSON)) -> 'git commit -m x';
-- shell_line(CAST('["powershell.exe", "-NoProfile", "-Command", "git commit -m x"]' AS JSON)) -> 'git commit -m x';
-- shell_line(CAST('["C:\\Windows\\System32\\cmd.exe", "/c", "git", "commit"]' AS JSON)) -> 'git commit';
-- shell_line(CAST('["git", "commit", "-m", "a; b"]' AS JSON)) -> 'git commit -m "x"';
-- shell_line(CAST('["git", "-c", "a=b", "commit"]' AS JSON)) -> 'git -c a=b commit';
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
CREATE OR REPLACE MACRO model_or_unknown(name) AS coalesce(nullif(name, ''), 'unknown');
-- model_or_unknown('gpt-5') -> 'gpt-5';
-- model_or_unknown('') -> 'unknown';
-- model_or_unknown(NULL) -> 'unknown';

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

-- The first by name of the names in a list with commas between.
CREATE OR REPLACE MACRO first_of_list(names) AS
  list_min(list_filter(list_transform(string_split(names, ','), lambda name: trim(name)), lambda name: name <> ''));
-- first_of_list('payments, compilers,,') -> 'compilers';
-- first_of_list(' , ') -> NULL;
-- first_of_list(NULL) -> NULL;

-- Who serves the models of Claude Code, as OpenTelemetry names it.
CREATE OR REPLACE MACRO provider_of(text) AS CASE word_of(text) WHEN 'firstparty' THEN 'anthropic' ELSE word_of(text) END;
-- provider_of('firstParty') -> 'anthropic';
-- provider_of('bedrock') -> 'bedrock';
-- provider_of(NULL) -> NULL;

-- The service tier of a call of Codex. Fast is its own word for OpenAI's priority.
CREATE OR REPLACE MACRO codex_service_tier(text) AS CASE word_of(text) WHEN 'fast' THEN 'priority' ELSE word_of(text) END;
-- codex_service_tier('fast') -> 'priority';
-- codex_service_tier('priority') -> 'priority';
-- codex_service_tier('flex') -> 'flex';
-- codex_service_tier(NULL) -> NULL;

-- US dollars in a text; NULL for anything that no call can cost.
CREATE OR REPLACE MACRO dollars_of(text) AS
  CASE WHEN try_cast(text AS DOUBLE) BETWEEN 0 AND 1000000 THEN try_cast(text AS DOUBLE) END;
-- dollars_of('0.0028') -> 0.0028;
-- dollars_of('-1') -> NULL;
-- dollars_of('NaN') -> NULL;
-- dollars_of('free') -> NULL;

-- What an agent's file says that a call cost, in US dollars; NULL if that is nothing, as of a subscription or a model without a known price.
CREATE OR REPLACE MACRO file_cost_of(text) AS nullif(dollars_of(text), 0);
-- file_cost_of('0.0028') -> 0.0028;
-- file_cost_of('0') -> NULL;
-- file_cost_of('-1') -> NULL;
-- file_cost_of(NULL) -> NULL;

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
