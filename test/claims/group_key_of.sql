group_key_of('user', 'ada', 'codex', 'cli', 'acme/web', 'gpt-5') -> 'ada';
group_key_of('agent', 'ada', 'codex', 'cli', 'acme/web', 'gpt-5') -> 'codex';
group_key_of('client', 'ada', 'codex', 'cli', 'acme/web', 'gpt-5') -> 'cli';
group_key_of('repo', 'ada', 'codex', 'cli', 'acme/web', 'gpt-5') -> 'acme/web';
-- A row without a repository stays in the group without one.
group_key_of('repo', 'ada', 'codex', 'cli', '', 'gpt-5') -> '';
-- Other groups, and no groups.
group_key_of('model', 'ada', 'codex', 'cli', 'acme/web', 'gpt-5') -> 'gpt-5';
group_key_of('', 'ada', 'codex', 'cli', 'acme/web', '') -> '';
