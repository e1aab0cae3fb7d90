import { z } from 'zod';
import { UsageError } from './exit.js';

/** A UTC calendar day, `YYYY-MM-DD`. Days compare as strings. */
export type Day = string & { readonly day: unique symbol };

export const MS_PER_DAY = 86_400_000;

/** Whether the text is a day of the calendar: `2026-02-30` is none. */
export function isDay(text: string): text is Day {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  // A day or month that there isn't becomes another.
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** A schema for a day, for requests and settings. */
export const DaySchema = z
  .string()
  .refine(isDay, 'must be a calendar date as YYYY-MM-DD')
  .meta({ format: 'date', description: 'a day in UTC', examples: ['2026-06-01'] });

/** The day that a command-line option names. Throws a UsageError that names the option. */
export function parseDay(text: string, option: string): Day {
  if (isDay(text)) return text;
  throw new UsageError(`${option} must be a calendar date as YYYY-MM-DD, not "${text}".`);
}

const Instant = z.iso.datetime({ offset: true });

/** The instant that a command-line option names, as Unix milliseconds. Throws a UsageError that names the option. */
export function parseInstant(text: string, option: string): number {
  if (Instant.safeParse(text).success) return Date.parse(text);
  throw new UsageError(`${option} must be an instant such as 2026-06-10T09:00:00Z, not "${text}".`);
}

/** The UTC day in which an instant (Unix milliseconds) lies. */
export function dayOf(at: number): Day {
  return new Date(at).toISOString().slice(0, 10) as Day;
}

/** The day some days later, or earlier when `days` is negative. */
export function addDays(day: Day, days: number): Day {
  return dayOf(Date.parse(`${day}T00:00:00.000Z`) + days * MS_PER_DAY);
}

/** The newest day that is over at an instant (Unix milliseconds). Later days are open: never built, never served. */
export function lastClosedDay(at: number): Day {
  return addDays(dayOf(at), -1);
}

/** The later of two days. */
export function laterDay(one: Day, other: Day): Day {
  return one > other ? one : other;
}

/** An instant (Unix milliseconds) for the name of a file: `20260701T000002Z`. */
export function stampOf(instant: number): string {
  return new Date(instant).toISOString().replaceAll(/[-:]|\.\d+/g, '');
}
