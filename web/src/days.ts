const DAY_MS = 86_400_000;

/** A UTC day as `YYYY-MM-DD`. */
export type Day = string;

/** A range of days, both included. */
export interface Range {
  readonly from: Day;
  readonly to: Day;
}

export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** How many days a range has. */
export function lengthOf({ from, to }: Range): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
}

export function daysOf({ from, to }: Range): Day[] {
  return Array.from({ length: lengthOf({ from, to }) }, (_, index) => addDays(from, index));
}

/** The days of a range that an answer has no row for; none until the answer has arrived. */
export function missingIn(range: Range, rows: readonly { date: Day | null }[] | undefined): Day[] {
  const found = new Set(rows?.map(({ date }) => date));
  return rows === undefined ? [] : daysOf(range).filter((day) => !found.has(day));
}

/** The range of equal length before. */
export function before(range: Range): Range {
  return { from: addDays(range.from, -lengthOf(range)), to: addDays(range.from, -1) };
}

/** 0 for Sunday. */
export function weekday(day: Day): number {
  return new Date(Date.parse(day)).getUTCDay();
}

export function isWeekend(day: Day): boolean {
  return weekday(day) % 6 === 0;
}

export function isDay(text: string): text is Day {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text;
}

/** The first day of a day's quarter. */
export function quarterOf(day: Day): Day {
  const month = Number(day.slice(5, 7));
  return `${day.slice(0, 4)}-${String(month - ((month - 1) % 3)).padStart(2, '0')}-01`;
}

/** The first day of a day's month. */
export function monthOf(day: Day): Day {
  return `${day.slice(0, 8)}01`;
}

/** How many of the days of a range are working days: Monday to Friday. */
export function workingDaysIn(range: Range): number {
  return daysOf(range).filter((day) => !isWeekend(day)).length;
}

/** The UTC day of the reader's clock. */
export function today(): Day {
  return new Date().toISOString().slice(0, 10);
}
