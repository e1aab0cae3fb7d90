/**
 * The looks of credentials in a text that has addresses, and the rest of them: without_credentials of sql/function for an
 * engine that goes back and tries again, where its expressions would take quadratic time. So an address is read from one beginning
 * only, the one behind `://`, and what lies between that and the password is read once: `(?=(...))\1`. White space is that of RE2.
 */
const CREDENTIALS: readonly (readonly [found: RegExp, left: string])[] = [
  // Over HTTP a user without a password can be a token.
  [/(?<=https?:\/\/)[^\t\n\f\r /"<>]*@/gi, ''],
  // Over SSH the user is a name, as git: only the password goes.
  [/(?<=[a-z][a-z0-9+.-]{0,30}:\/\/)(?=([^\t\n\f\r /"<>:@]*?)(:|%3a))\1\2[^\t\n\f\r /"<>]*@/gi, '$1@'],
  [/(^|[\t\n\f\r '"(=])([^\t\n\f\r /:@'"(=]+):[^\t\n\f\r /:@'"]+@([^\t\n\f\r /:@'"]+:)/g, '$1$2@$3'],
  // Of a name in percent-encoding nobody can tell what it is.
  [
    /([?&;#](?:[\w.-]{0,40}(?:token|secret|passw(?:or)?d|signature|credential|api[-_]?key)[\w.-]{0,20}|key|pass|pwd|sig|auth|authorization|jwt|pat|[\w.-]{0,40}%[\w.%-]{0,80})=)[^\t\n\f\r &;#"'<>\\]+/gi,
    '$1***',
  ],
];

/**
 * A text without the passwords and tokens of the addresses in it, as git and others print them. It has to go over every text
 * that can have an address of a user, before it is kept, sent, shown or logged.
 */
export function withoutCredentials(text: string): string {
  return CREDENTIALS.reduce((before, [found, left]) => before.replace(found, left), text);
}

/** Whether an address has a password or token in it. */
export function hasCredentials(address: string): boolean {
  return withoutCredentials(address) !== address || hasPassword(address);
}

/** Whether a whole address has a password, also one with characters at which an address in a text ends, such as quotes. */
function hasPassword(address: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(address) || !URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return password !== '' || (/^https?:$/.test(protocol) && username !== '');
}
