/** Runs parts of a bench by their names. */
export async function runParts(
  names: readonly string[],
  parts: Readonly<Record<string, () => Promise<void>>>,
): Promise<void> {
  const chosen = names.map((name): [string, () => Promise<void>] => {
    const part = parts[name];
    if (part !== undefined) return [name, part];
    throw new Error(`There is no part ${name}: name ${Object.keys(parts).join(', ')}.`);
  });
  for (const [name, part] of chosen) {
    console.log(`\n${name}`);
    await part();
  }
}
