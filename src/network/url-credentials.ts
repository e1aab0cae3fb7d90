/**
 * Patterns of credentials in addresses within a text, and their replacements: the same as without_credentials of sql/function, but for
 * a backtracking engine, in which those expressions would take quadratic time. So an address is matched from one beginning only, the
 * one behind `://`, and what lies between that and the password is read once: `(?=(...))\1`. White space is that of RE2.
 */
const CREDENTIALS: readonly (readonly [found: RegExp, left: string])[] = [
  // Over HTTP, a user without a password can be a token.
  [/(?<=https?:\/\/)[^\t\n\f\r /"<>]*@/gi, ''],
  // Over SSH, the user is a name, such as git: only the password is removed.
  [/(?<=[a-z][a-z0-9+.-]{0,30}:\/\/)(?=([^\t\n\f\r /"<>:@]*?)(:|%3a))\1\2[^\t\n\f\r /"<>]*@/gi, '$1@'],
  [/(^|[\t\n\f\r '"(=])([^\t\n\f\r /:@'"(=]+):[^\t\n\f\r /:@'"]+@([^\t\n\f\r /:@'"]+:)/g, '$1$2@$3'],
  // A name in percent-encoding could be any of these.
  [
    /([?&;#](?:[\w.-]{0,40}(?:token|secret|passw(?:or)?d|signature|credential|api[-_]?key)[\w.-]{0,20}|key|pass|pwd|sig|auth|authorization|jwt|pat|[\w.-]{0,40}%[\w.%-]{0,80})=)[^\t\n\f\r &;#"'<>\\]+/gi,
    '$1***',
  ],
];

/**
 * Removes passwords and tokens from the addresses in a text, as git and others print them. Every text that can contain a user's address
 * must pass through this before it is kept, sent, shown or logged.
 */
export function withoutCredentials(text: string): string {
  return CREDENTIALS.reduce((before, [found, left]) => before.replace(found, left), text);
}

/** Whether an address has a password or token in it. */
export function hasCredentials(address: string): boolean {
  return withoutCredentials(address) !== address || hasPassword(address);
}

/** Whether an address has a password, even with characters that would end an address within a text, such as quotes. */
function hasPassword(address: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(address) || !URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return password !== '' || (/^https?:$/.test(protocol) && username !== '');
}
