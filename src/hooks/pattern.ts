import { RE2JS } from 're2js';

/**
 * A regular expression of a hook's configuration, which can come from anyone who writes into a repository. RE2 has none that
 * takes longer than its text. Throws for a text that is none: RE2 has no look-around and no back references.
 */
export function compilePattern(text: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(text));
}
