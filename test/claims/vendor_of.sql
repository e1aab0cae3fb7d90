-- An agent is billed by its vendor.
vendor_of('claude-code') -> 'anthropic';
vendor_of('codex') -> 'openai';
vendor_of('copilot-cli') -> 'github';
vendor_of('copilot-chat') -> 'github';
vendor_of('cursor') -> 'cursor';
-- Others can be used with any vendor's models.
vendor_of('opencode') -> '';
vendor_of('') -> '';
