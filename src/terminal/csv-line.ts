/** A line of CSV (RFC 4180): nothing for null, JSON text for nested values. */
export function csvLine(values: readonly unknown[]): string {
  const fields = values.map((value) => {
    const text =
      value === null || value === undefined
        ? ''
        : typeof value === 'object'
          ? JSON.stringify(value)
          : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${fields.join(',')}\r\n`;
}
