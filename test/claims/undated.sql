-- A date at the end goes, in the spellings that vendors use.
undated('claude-sonnet-4-5-20250929') -> 'claude-sonnet-4-5';
undated('gpt-5-2025-08-07') -> 'gpt-5';
undated('claude-sonnet-4-5@20250929') -> 'claude-sonnet-4-5';
-- A version isn't a date, nor is a date in the middle.
undated('claude-opus-4-1') -> 'claude-opus-4-1';
undated('gpt-4-0613') -> 'gpt-4-0613';
undated('gpt-4o-2024-05-13-eu') -> 'gpt-4o-2024-05-13-eu';
undated('gpt-5-20250807-20250807') -> 'gpt-5-20250807';
undated('') -> '';
undated(CAST(NULL AS VARCHAR)) -> CAST(NULL AS VARCHAR);
