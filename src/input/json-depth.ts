/** How deep lists and objects can be nested. Settings and hook payloads need a few levels. */
export const LEVELS_AT_MOST = 100;

/** How many values a client's JSON document can have. Ten times as many take tens of milliseconds to parse. */
export const VALUES_AT_MOST = 50_000;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d];

/** Whether a JSON text is nested deeper than this many levels, or has more than this many values. */
export function isIntricate(text: string, levels: number, values = Number.POSITIVE_INFINITY): boolean {
  let [depth, count] = [0, 1];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      for (at += 1; at < text.length && text.charCodeAt(at) !== QUOTE; at += 1)
        if (text.charCodeAt(at) === BACKSLASH) at += 1;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      count += 1;
      if (depth > levels || count > values) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth -= 1;
    } else if (code === COMMA) {
      count += 1;
      if (count > values) return true;
    }
  }
  return false;
}
