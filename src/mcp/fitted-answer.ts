/** How many bytes of an answer an agent gets: about ten thousand tokens of its context. */
export const ANSWER_BYTES = 32 << 10;
/** How many of them are for rows: sentences about what was left out need some room. */
export const FITTED_BYTES = ANSWER_BYTES - 1024;
/** How many rows an SQL answer has. */
export const ANSWER_ROWS = 500;

/** How many entries of the lists in rows are kept if the answer is too large: the next number is tried while it still is. */
const ENTRIES = [20, 10, 5, 3];

export type Row = Readonly<Record<string, unknown>>;

/** The JSON of rows. It begins with what was left out, so that nobody mistakes a part for the whole. */
export function textOf(data: unknown, meta: unknown, cut: readonly string[]): string {
  return JSON.stringify({ ...(cut.length === 0 ? {} : { cut }), data, meta });
}

/** Rows with at most this many entries in each list, and the names of the lists that were cut. */
function shortened(rows: readonly Row[], most: number): { rows: Row[]; names: string[] } {
  const names = new Set<string>();
  const shorten = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) {
      if (value.length > most) names.add(name);
      return value.slice(0, most).map((entry) => shorten(entry, name));
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        shorten(inner, name === '' ? key : `${name}.${key}`),
      ]),
    );
  };
  return { rows: rows.map((row) => shorten(row, '') as Row), names: [...names] };
}

/** The first rows that fit, in whole days if rows have a date, and how to ask for the rest. */
function firstRows(rows: readonly Row[], fits: (rows: readonly Row[]) => boolean, rest: string) {
  let [few, many] = [0, rows.length];
  while (many - few > 1) {
    const half = (few + many) >> 1;
    if (fits(rows.slice(0, half))) few = half;
    else many = half;
  }
  const next = rows[few]?.date;
  const whole = typeof next === 'string' ? rows.findIndex(({ date }) => date === next) : 0;
  if (whole > 0 && rows.slice(whole).every(({ date }) => String(date) >= String(next)))
    return {
      rows: rows.slice(0, whole),
      cut: `Days from ${next} on are left out: ask again with startDate ${next}, or ${rest}.`,
    };
  return { rows: rows.slice(0, few), cut: `Only the first ${few} of ${rows.length} rows are here: ${rest}.` };
}

/** The JSON of an answer in at most ANSWER_BYTES. If it is too large, lists in rows are cut first, and then the last rows. */
export function fitted(rows: readonly Row[], meta: unknown, cut: readonly string[], rest: string): string {
  const fits = (some: readonly Row[]) => Buffer.byteLength(textOf(some, meta, [])) <= FITTED_BYTES;
  if (fits(rows)) return textOf(rows, meta, cut);
  let short = { rows: [...rows], names: [] as string[] };
  let most = 0;
  for (most of ENTRIES) {
    short = shortened(rows, most);
    if (fits(short.rows)) break;
  }
  const sentences =
    short.names.length === 0
      ? []
      : [`Of longer lists only the first ${most} entries are here (${short.names.join(', ')}): ${rest}.`];
  if (fits(short.rows)) return textOf(short.rows, meta, [...cut, ...sentences]);
  const first = firstRows(short.rows, fits, rest);
  return textOf(first.rows, meta, [...cut, first.cut, ...sentences]);
}
