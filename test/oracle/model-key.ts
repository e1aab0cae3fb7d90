/** The name of a model without what a provider adds to it, in lower case and with hyphens for dots. */
export function modelName(model: string): string {
  const [name = ''] = model.trim().toLowerCase().split('/').slice(-1);
  const bare = name
    .replace(/\[\d+m\]$/, '')
    .replace(/-v\d+:\d+$/, '')
    .split(/^(?:us|eu|global)\.anthropic\.|^anthropic\./)
    .at(-1);
  return (bare ?? '').replace(/(?<=\d)\.(?=\d)/g, '-').replace(/@(?=20\d{6}$)/, '-');
}

/** The key of a model: its name without the date. */
export function modelKey(model: string): string {
  return modelName(model).split(/[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$/)[0] ?? '';
}

/** The entry of a model: that of its name, else of its key. */
export function entryOf<T extends { readonly id: string }>(
  model: string,
  entries: readonly T[],
): T | undefined {
  const byName = (name: string) => entries.find(({ id }) => modelName(id) === name);
  return byName(modelName(model)) ?? byName(modelKey(model));
}
