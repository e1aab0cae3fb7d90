import { z } from 'zod';

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a date',
};

const FORMATS: Record<string, string> = {
  uuid: 'a UUID',
  guid: 'a UUID',
  url: 'a URL',
  email: 'an e-mail address',
  regex: 'in the format that /docs describes',
  datetime: 'a date and time in RFC 3339',
};

const UNCLEAR = 'does not match the reference in /docs';

/** The same for a value that matches none of several schemas: their demands on the value as a whole. */
function ofUnion(issue: Extract<z.core.$ZodRawIssue, { code: 'invalid_union' }>): string {
  if (Array.isArray(issue.options)) return `must be ${issue.options.map(String).join(' or ')}`;
  const wanted = issue.errors.map(([first]) =>
    first?.path.length === 0 ? /^must be (.*)$/.exec(first.message)?.[1] : undefined,
  );
  return wanted.length === 0 || wanted.includes(undefined)
    ? UNCLEAR
    : `must be ${[...new Set(wanted)].join(' or ')}`;
}

/** The rest of a sentence that begins with a value's name and says what the value must be. */
function sentence(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => (value === null ? 'null' : String(value))).join(' or ')}`;
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? issue.format}`;
    case 'too_small':
      if (issue.origin === 'string')
        return `must have at least ${issue.minimum} character${issue.minimum === 1 ? '' : 's'}`;
      if (issue.origin === 'array')
        return `must have at least ${issue.minimum} element${issue.minimum === 1 ? '' : 's'}`;
      return issue.inclusive === false
        ? `must be more than ${issue.minimum}`
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`;
      if (issue.origin === 'array') return `must have at most ${issue.maximum} elements`;
      return issue.inclusive === false
        ? `must be less than ${issue.maximum}`
        : `must be at most ${issue.maximum}`;
    case 'unrecognized_keys':
      return `must not have ${issue.keys.join(', ').slice(0, 100)}`;
    case 'invalid_union':
      return ofUnion(issue);
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'must have other member names';
    default:
      return UNCLEAR;
  }
}

// So that all parsing errors use the same words.
z.config({ localeError: sentence });
