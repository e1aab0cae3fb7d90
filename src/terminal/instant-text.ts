/** An instant for people, to the second. Unix milliseconds. */
export function instantText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
