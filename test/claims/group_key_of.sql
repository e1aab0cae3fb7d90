group_key_of('user', 'ada', 'codex', 'cli', 'acme/web', 'Web', '4711', 'gpt-5') -> 'ada';
group_key_of('agent', 'ada', 'codex', 'cli', 'acme/web', 'Web', '4711', 'gpt-5') -> 'codex';
group_key_of('client', 'ada', 'codex', 'cli', 'acme/web', 'Web', '4711', 'gpt-5') -> 'cli';
group_key_of('repo', 'ada', 'codex', 'cli', 'acme/web', 'Web', '4711', 'gpt-5') -> 'acme/web';
group_key_of('team', 'ada', 'codex', 'cli', 'acme/web', 'Web', '4711', 'gpt-5') -> 'Web';
group_key_of('cost_center', 'ada', 'codex', 'cli', 'acme/web', 'Web', '4711', 'gpt-5') -> '4711';
-- A row without a repository or a team stays in the group without one.
group_key_of('repo', 'ada', 'codex', 'cli', '', 'Web', '4711', 'gpt-5') -> '';
group_key_of('team', 'ada', 'codex', 'cli', 'acme/web', NULL, '4711', 'gpt-5') -> '';
-- Other groups, and no groups.
group_key_of('model', 'ada', 'codex', 'cli', 'acme/web', 'Web', '4711', 'gpt-5') -> 'gpt-5';
group_key_of('', 'ada', 'codex', 'cli', 'acme/web', 'Web', '4711', '') -> '';
