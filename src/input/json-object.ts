/** Whether a JSON value is an object: not a list, and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON text as a value; undefined if it isn't JSON. */
export function parsedJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/**
 * A JSON text in which control characters in texts are escaped. Some agents write line feeds and tabs as they are, which no JSON parser
 * accepts.
 */
export function withControlsEscaped(json: string): string {
  let isInText = false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return json.replaceAll(/\\[\s\S]|["\0-\x1f]/g, (found) => {
    if (found === '"') isInText = !isInText;
    return isInText && found < ' ' ? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}` : found;
  });
}
