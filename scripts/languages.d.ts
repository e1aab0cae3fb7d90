/** The language table of data/languages.json, made from the linguist-languages package. */
export function languageTable(): {
  preferred: Record<string, string>;
  names: Record<string, string>;
  extensions: Record<string, string>;
};
