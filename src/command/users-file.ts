import { USERS_AT_MOST } from '../api/api-keys.js';
import { readForeign } from '../disk/foreign-file.js';
import { UsageError } from '../exit.js';

const FILE_BYTES = 8 << 20;

/** Users and their e-mail addresses in a file: one a line, as `ada` or `ada,ada@acme.example`. Throws a UsageError that names the wrong line. */
export function usersIn(path: string): { userId: string; email?: string }[] {
  let text: string | undefined;
  try {
    text = readForeign(path, { limitBytes: FILE_BYTES })?.toString();
  } catch {}
  if (text === undefined)
    throw new UsageError(`--users must name a readable file with a user on each line, which ${path} is not.`);
  const seen = new Set<string>();
  const users = text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => {
      const [userId = '', email = '', ...more] = line.split(',').map((part) => part.trim());
      if (userId === '' || more.length > 0)
        throw new UsageError(
          `Line ${number} of ${path} must be a user, or a user, a comma and an e-mail address.`,
        );
      if (seen.has(userId)) throw new UsageError(`Line ${number} of ${path} names ${userId} a second time.`);
      seen.add(userId);
      return { userId, ...(email === '' ? {} : { email }) };
    });
  if (users.length === 0 || users.length > USERS_AT_MOST)
    throw new UsageError(`${path} must name 1 to ${USERS_AT_MOST} users, not ${users.length}.`);
  return users;
}
